#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/admission/expressions/activation.h"
#include "lib/service/metrics.h"

namespace apimesh::admission {

/// The match conditions of a webhook or policy, compiled once. Immutable and thread-safe.
class MatchConditions {
 public:
  enum class FailurePolicy { kFail, kIgnore };
  /// The labels of the metrics: the name of the webhook or policy, "webhook" or "policy", "validate" or "admit".
  struct Owner {
    std::string name, kind, type;
  };

  MatchConditions() = default;
  /// Compiles the list `matchConditions`, which may be nullptr. `metrics` may be nullptr, `clock` is set if it is not.
  MatchConditions(const meta::json::array* conditions, const ExpressionScope& scope, const ExpressionOptions& options,
                  FailurePolicy failure_policy, Owner owner, service::Metrics* metrics, const Clock* clock);

  bool Empty() const { return conditions_.empty(); }
  bool UsesRequest() const { return uses_request_; }

  struct Result {
    bool matches = true;
    std::string failed_condition;  // the name of the condition that is false, if there is one
    std::string error;             // a condition cannot be evaluated and the failure policy is kFail
  };
  /// Evaluates the conditions. A condition that is false decides, even if others fail. `variables` are the composed
  /// variables of a policy, or nullptr. If inputs.authorizer has an open question afterwards, the result must not be
  /// used.
  Result Match(const ExpressionInputs& inputs, const std::vector<NamedExpression>* variables,
               cel::Evaluation& evaluation) const;
  /// The same, and waits for the answers of the authorizer. `inputs` must have `attributes` set; `authorizer` is that
  /// of inputs.
  Task<Result> MatchAndAsk(meta::RequestContext ctx, ExpressionInputs inputs, AuthorizerAnswers& authorizer) const;
  /// Counts a webhook that is not called because of its conditions.
  void CountExclusion(Operation operation) const;

 private:
  Result Evaluate(const ExpressionInputs& inputs, const std::vector<NamedExpression>* variables,
                  cel::Evaluation& evaluation) const;
  service::Labels LabelsOf(const ExpressionInputs& inputs) const;

  std::vector<NamedExpression> conditions_;
  bool uses_request_ = false;
  FailurePolicy failure_policy_ = FailurePolicy::kFail;
  Owner owner_;
  service::Metrics* metrics_ = nullptr;
  const Clock* clock_ = nullptr;
};

}  // namespace apimesh::admission
