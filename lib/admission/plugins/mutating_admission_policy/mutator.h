#pragma once

#include <string>
#include <vector>

#include "lib/admission/expressions/match_conditions.h"
#include "lib/admission/policies/policy_source.h"

namespace apimesh::admission::mutating_policy {

/// The result of one mutation: the new document, or an error. An error without `status` is subject to the failure
/// policy.
struct Mutation {
  std::string error;                     // "" if there is none
  std::optional<meta::ApiError> status;  // an error that always rejects the request
  meta::json::object document;
};

/// The programs of a MutatingAdmissionPolicy. Immutable and thread-safe.
class Mutator final : public policies::CompiledPolicy {
 public:
  /// `metrics` may be nullptr; `clock` is set if it is not.
  Mutator(const meta::Object& policy, service::Metrics* metrics, const Clock* clock);

  /// Evaluates the match conditions. For this and Mutate(): if inputs.authorizer has an open question afterwards, the
  /// result must not be used.
  MatchConditions::Result Match(const ExpressionInputs& inputs, cel::Evaluation& evaluation) const;
  std::size_t Mutations() const { return mutations_.size(); }
  /// Computes the mutation with this number of inputs.object, which is not nullptr and is not changed. `kind` is its
  /// kind and `versions` knows it.
  Mutation Mutate(std::size_t index, const ExpressionInputs& inputs, const meta::Gvk& kind,
                  const ResourceVersions& versions, cel::Evaluation& evaluation) const;

  bool UsesRequest() const { return uses_request_; }
  /// Whether the policy runs again after later changes of the object.
  bool Reinvoked() const { return reinvoked_; }

 private:
  struct Patch {
    bool json_patch = false;  // else an apply configuration
    ExpressionPtr expression;
  };
  std::vector<NamedExpression> variables_;
  MatchConditions conditions_;
  std::vector<Patch> mutations_;
  bool uses_request_ = false;
  bool reinvoked_ = false;
};

}  // namespace apimesh::admission::mutating_policy
