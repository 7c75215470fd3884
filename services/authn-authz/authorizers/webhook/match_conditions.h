#pragma once

#include <boost/json/object.hpp>

#include "lib/cel/program.h"
#include "lib/service/metrics.h"

namespace apimesh::authn_authz {

/// The conditions that select the requests for which a webhook is called.
class MatchConditions {
 public:
  /// `metrics` may be null.
  MatchConditions(std::vector<cel::Program> programs, const std::string& webhook_name, service::Metrics* metrics);

  struct Result {
    bool matches = false;
    std::string error;  // set if a condition could not be evaluated
  };
  /// Evaluates the conditions. `spec` is that of a v1 SubjectAccessReview. One false condition excludes the request,
  /// even if others fail.
  Result Match(const boost::json::object& spec) const;
  bool Empty() const { return programs_.empty(); }

 private:
  void Count(const char* metric, const char* help) const;

  const std::vector<cel::Program> programs_;
  const std::string name_;
  service::Metrics* const metrics_;
};

}  // namespace apimesh::authn_authz
