#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/meta/object.h"
#include "lib/meta/request/request_info.h"
#include "lib/meta/request/user.h"

namespace apimesh::aggregator {

/// A FlowSchema object: which requests belong to a priority level, and how they are divided into flows. Immutable.
class FlowSchema {
 public:
  explicit FlowSchema(const meta::Object& object);

  bool Matches(const meta::RequestInfo& info, const meta::UserInfo& user) const;
  /// Returns what distinguishes the flow of a request from other flows of this schema. The result refers to the
  /// arguments.
  std::string_view Distinguisher(const meta::RequestInfo& info, const meta::UserInfo& user) const;
  /// Returns the hash of a flow, which determines its queues.
  std::uint64_t FlowHash(std::string_view distinguisher) const;

  const std::string& Name() const { return name_; }
  const std::string& Uid() const { return uid_; }
  const std::string& PriorityLevel() const { return level_; }
  std::int64_t Precedence() const { return precedence_; }  // a lower number is tried first

 private:
  enum class Distinguish { kNothing, kUser, kNamespace };
  /// "*" alone in the list of the API means all.
  struct Names {
    bool all = false;
    std::vector<std::string> names;
    bool Has(std::string_view name) const;
  };
  struct Subject {
    enum class Kind { kUser, kGroup, kServiceAccount } kind;
    std::string name, ns;
  };
  struct ResourceRule {
    Names verbs, groups, resources, namespaces;
    bool cluster_scope = false;
  };
  struct PathRule {
    Names verbs;
    std::vector<std::string> paths;
  };
  struct Rule {
    std::vector<Subject> subjects;
    std::vector<ResourceRule> resources;
    std::vector<PathRule> paths;
  };
  static Names ReadNames(const meta::json::object& rule, std::string_view field);
  static Rule ReadRule(const meta::json::object& json);
  static bool Is(const Subject& subject, const meta::UserInfo& user);
  static bool Matches(const ResourceRule& rule, const meta::RequestInfo& info);
  static bool Matches(const PathRule& rule, const meta::RequestInfo& info);

  std::string name_, uid_, level_;
  std::int64_t precedence_;
  Distinguish distinguish_ = Distinguish::kNothing;
  std::vector<Rule> rules_;
};
using FlowSchemaPtr = std::shared_ptr<const FlowSchema>;

}  // namespace apimesh::aggregator
