#pragma once

#include <string>
#include <vector>

#include "lib/admission/expressions/match_conditions.h"
#include "lib/admission/policies/policy_source.h"

namespace apimesh::admission::validating_policy {

/// What one validation of a policy says about a request.
struct Decision {
  enum class Evaluation { kAdmit, kDeny, kError };
  bool denies = false;
  Evaluation evaluation = Evaluation::kAdmit;
  std::string message;
  meta::Reason reason = meta::Reason::kNone;
  Duration elapsed{};
};

/// One audit annotation of a policy.
struct Annotation {
  enum class Action { kPublish, kError, kExclude };
  std::string key;
  Action action = Action::kExclude;
  std::string text;  // the value or the error
  Duration elapsed{};
};

struct Validation {
  std::vector<Decision> decisions;  // in the order of spec.validations
  std::vector<Annotation> annotations;
};

/// The programs of a ValidatingAdmissionPolicy. Immutable and thread-safe.
class Validator final : public policies::CompiledPolicy {
 public:
  /// `metrics` may be nullptr; `clock` is set if it is not.
  Validator(const meta::Object& policy, service::Metrics* metrics, const Clock* clock);

  /// Evaluates the policy. If inputs.authorizer has an open question afterwards, the result must not be used.
  Validation Validate(const ExpressionInputs& inputs, cel::Evaluation& evaluation) const;
  /// Returns whether an expression reads `request`.
  bool UsesRequest() const { return uses_request_; }
  /// Returns whether an expression reads `namespaceObject`.
  bool UsesNamespace() const { return uses_namespace_; }

 private:
  struct Rule {
    ExpressionPtr expression, message_expression;  // the second may be nullptr
    std::string message;
    meta::Reason reason = meta::Reason::kInvalid;
  };
  Decision Failed(std::string message) const;
  void Decide(const Rule& rule, const Activation::Outcome& outcome, const Activation::Outcome* message,
              Decision& decision) const;
  /// Whether message expressions must be evaluated: a validation fails, or they could exhaust the budget.
  bool NeedsMessages(const std::vector<Activation::Outcome>& outcomes, std::int64_t budget) const;
  std::vector<Annotation> Annotate(ExpressionInputs inputs, cel::Evaluation& evaluation, bool& out_of_budget) const;
  SteadyTime Now() const { return clock_ ? clock_->Steady() : SteadyTime(); }
  ExpressionPtr Note(ExpressionPtr expression);

  std::vector<NamedExpression> variables_;
  MatchConditions conditions_;
  std::vector<Rule> rules_;
  std::size_t message_expressions_ = 0;
  std::vector<NamedExpression> annotations_;
  bool ignores_failures_ = false;
  bool uses_request_ = false, uses_namespace_ = false;
  const Clock* clock_;
};

}  // namespace apimesh::admission::validating_policy
