#pragma once

#include <boost/json/object.hpp>

#include "lib/cel/program.h"
#include "lib/service/metrics.h"

namespace apimesh::authn_authz {

/// Which requests a webhook is asked about.
class MatchConditions {
 public:
  /// `metrics` may be null.
  MatchConditions(std::vector<cel::Program> programs, const std::string& webhook_name, service::Metrics* metrics);

  struct Result {
    bool matches = false;
    std::string error;  // if it could not be found out
  };
  /// `spec` is that of a v1 SubjectAccessReview. One false condition excludes, whatever the others say.
  Result Match(const boost::json::object& spec) const;
  bool Empty() const { return programs_.empty(); }

 private:
  void Count(const char* metric, const char* help) const;

  const std::vector<cel::Program> programs_;
  const std::string name_;
  service::Metrics* const metrics_;
};

}  // namespace apimesh::authn_authz
