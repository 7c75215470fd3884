#pragma once

#include <string>
#include <vector>

#include "lib/admission/policies/policy_source.h"

namespace apimesh::admission::mutating_policy {

/// The errors of the policies of one request. Errors of policies that ignore failures are dropped.
class PolicyErrors {
 public:
  /// A policy or, if it is set, a binding cannot be evaluated.
  void AddConfigurationError(const policies::Policy& policy, const policies::Binding* binding,
                             const meta::ApiError& error);
  /// An evaluation of a binding failed.
  void Add(const policies::Policy& policy, const policies::Binding& binding, const std::string& error);

  /// Returns the error of the request, or success. Configuration errors come first.
  meta::Result<> Result(const Attributes& attributes) const;

 private:
  std::vector<std::string> configuration_, evaluation_;
};

}  // namespace apimesh::admission::mutating_policy
