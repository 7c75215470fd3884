#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/admission/plugins/validating_admission_policy/validator.h"

namespace apimesh::admission::validating_policy {

/// What the policies found out about one request, and what follows from it: warnings, audit annotations, metrics and
/// the error of the request.
class Findings {
 public:
  /// `metrics` may be nullptr.
  Findings(meta::RequestContext ctx, const Attributes& attributes, service::Metrics* metrics)
      : ctx_(std::move(ctx)), attributes_(attributes), metrics_(metrics) {}

  /// Records that a policy or, if it is set, a binding of it cannot be evaluated.
  void AddConfigurationError(const policies::Policy& policy, const policies::Binding* binding,
                             const meta::ApiError& error);
  /// Applies the actions of the binding.
  void Add(const policies::Policy& policy, const policies::Binding& binding, const Validation& validation);
  /// Publishes the audit annotations of a policy, after all its bindings.
  void EndPolicy(const policies::Policy& policy);
  /// Returns the error of the first denial, if there is one.
  meta::Result<> Result() const;

 private:
  void Deny(const policies::Policy& policy, const policies::Binding* binding, const Decision& decision);
  void Audit(const policies::Binding& binding, std::size_t index, const Decision& decision);
  void Apply(const policies::Policy& policy, const policies::Binding& binding, std::size_t index,
             const Decision& decision);
  void Count(const policies::Policy& policy, const policies::Binding& binding, const Decision& decision,
             const char* action) const;

  const meta::RequestContext ctx_;
  const Attributes& attributes_;
  service::Metrics* const metrics_;
  std::string denial_;  // the message of the first denial; "" if there is none
  meta::Reason reason_ = meta::Reason::kInvalid;
  std::map<std::string, std::vector<std::string>> annotations_;  // of the current policy
};

}  // namespace apimesh::admission::validating_policy
