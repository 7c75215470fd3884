#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

namespace apimesh::object_check {

/// What can be wrong with an object in the store. The order is that of the report.
enum class Problem {
  kUnreadable,    // it cannot be decrypted or decoded
  kNotServed,     // no resource of this server or of a definition has it
  kLosesFields,   // it has fields, or a version, that the served version does not have
  kOffByDefault,  // its resource is served only with --runtime-config
};
std::string_view ToString(Problem problem);

/// The result of a check. Its size depends on the number of resources, not on the number of objects.
class Report {
 public:
  std::int64_t revision = 0;
  std::uint64_t objects = 0, bytes = 0;
  std::uint64_t protobuf = 0, json = 0, encrypted = 0;
  std::uint64_t internal = 0;  // records of API servers that are no objects: allocated addresses, leases of servers
  std::uint64_t foreign = 0;   // keys that are outside of the prefix of the API server
  std::string service_ranges;  // the ranges of the ServiceCIDR "kubernetes", comma separated; empty if there is none

  /// Counts an object of a resource ("deployments.apps").
  void Count(const std::string& resource) { ++resources_[resource]; }
  /// Adds an object with a problem. Only the first keys of a problem of a resource are kept, with the message of each.
  void Add(Problem problem, const std::string& resource, std::string_view key, std::string message);
  /// Returns the number of objects that have the problem.
  std::uint64_t Affected(Problem problem) const;
  boost::json::object ToJson() const;

  static constexpr std::size_t kMaxExamples = 5;

 private:
  struct Finding {
    std::uint64_t objects = 0;
    std::vector<std::pair<std::string, std::string>> examples;  // key and message
  };
  std::map<std::string, std::uint64_t> resources_;
  std::map<std::pair<Problem, std::string>, Finding> findings_;
};

}  // namespace apimesh::object_check
