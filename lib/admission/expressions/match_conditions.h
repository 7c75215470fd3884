#pragma once

#include <array>
#include <memory>
#include <mutex>
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
  bool UsesAuthorizer() const { return uses_authorizer_; }
  /// Returns whether both have the same expressions, so that their outcomes for a request are equal.
  bool HasExpressionsOf(const MatchConditions& other) const;
  /// Identifies the first expression. It is equal if HasExpressionsOf() is true.
  const void* FirstExpression() const { return conditions_.empty() ? nullptr : conditions_[0].expression.get(); }
  /// Whether others may have the same expressions. This is a hint.
  bool MayBeShared() const { return !conditions_.empty() && conditions_[0].expression.use_count() > 1; }

  struct Result {
    bool matches = true;
    std::string failed_condition;  // the name of the condition that is false, if there is one
    std::string error;             // a condition cannot be evaluated and the failure policy is kFail
  };
  /// What the expressions evaluate to, which does not depend on the owner of the conditions.
  struct Outcome {
    std::optional<std::size_t> excluded_by;  // the first condition that is false
    std::vector<std::string> errors;
    Duration elapsed{};
    bool provisional = false;  // inputs.authorizer has an open question, so the outcome must not be used
  };
  Outcome Evaluate(const ExpressionInputs& inputs, const std::vector<NamedExpression>* variables,
                   cel::Evaluation& evaluation) const;
  /// Returns the result of an outcome that is not provisional, and records it in the metrics.
  Result Conclude(const Outcome& outcome, const Attributes* attributes) const;
  /// Evaluates the conditions and concludes. A condition that is false decides, even if others fail. `variables` are
  /// the composed variables of a policy, or nullptr. If inputs.authorizer has an open question afterwards, the result
  /// must not be used.
  Result Match(const ExpressionInputs& inputs, const std::vector<NamedExpression>* variables,
               cel::Evaluation& evaluation) const;
  /// Counts a webhook that is not called because of its conditions.
  void CountExclusion(Operation operation) const;

 private:
  /// The series of one operation, which are looked up when they are first needed.
  struct Series {
    std::once_flag once_exclusions, once_seconds;
    std::optional<service::Counter> exclusions;
    std::optional<service::Histogram> seconds;
  };
  service::Labels LabelsOf(std::string_view operation) const;

  std::vector<NamedExpression> conditions_;
  bool uses_request_ = false, uses_authorizer_ = false;
  FailurePolicy failure_policy_ = FailurePolicy::kFail;
  Owner owner_;
  service::Metrics* metrics_ = nullptr;
  const Clock* clock_ = nullptr;
  std::unique_ptr<std::array<Series, 4>> series_;  // by Operation; nullptr without metrics
};

}  // namespace apimesh::admission
