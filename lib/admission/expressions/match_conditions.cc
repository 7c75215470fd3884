#include "lib/admission/expressions/match_conditions.h"

#include "lib/admission/fields.h"

namespace apimesh::admission {

MatchConditions::MatchConditions(const meta::json::array* conditions, const ExpressionScope& scope,
                                 const ExpressionOptions& options, FailurePolicy failure_policy, Owner owner,
                                 service::Metrics* metrics, const Clock* clock)
    : failure_policy_(failure_policy), owner_(std::move(owner)), metrics_(metrics), clock_(clock) {
  if (!conditions) return;
  for (const meta::json::value& item : *conditions) {
    if (!item.is_object()) continue;
    const std::string_view source = meta::FindString(item.get_object(), "expression");
    NamedExpression& added = conditions_.emplace_back();
    added.name = meta::FindString(item.get_object(), "name");
    added.expression = CompileExpression(source, scope, options, ExpressionResult::kBool);
    uses_request_ = uses_request_ || added.expression->uses_request;
  }
}

service::Labels MatchConditions::LabelsOf(const ExpressionInputs& inputs) const {
  const std::string_view operation = inputs.attributes ? ToString(inputs.attributes->operation) : "";
  return {{"name", owner_.name}, {"kind", owner_.kind}, {"type", owner_.type}, {"operation", std::string(operation)}};
}

MatchConditions::Result MatchConditions::Evaluate(const ExpressionInputs& inputs,
                                                  const std::vector<NamedExpression>* variables,
                                                  cel::Evaluation& evaluation) const {
  Activation activation(inputs, variables, evaluation, Activation::kMatchConditionsBudget);
  std::vector<std::string> errors;
  const std::string* excluded = nullptr;
  for (const NamedExpression& condition : conditions_) {
    const std::optional<Activation::Outcome> outcome = activation.Evaluate(*condition.expression);
    if (!outcome) {
      // All conditions are evaluated before the first result counts, so a condition that is false does not decide here.
      excluded = nullptr;
      errors = {std::string(kOutOfBudget)};
      break;
    }
    if (outcome->Failed()) errors.push_back(outcome->error);
    if (outcome->value.IsFalse() && !outcome->Failed() && !excluded) excluded = &condition.name;
  }
  if (excluded) return {.matches = false, .failed_condition = *excluded, .error = ""};
  if (errors.empty()) return {};
  const bool provisional = inputs.authorizer && inputs.authorizer->HasOpenQuestion();
  if (metrics_ && !provisional && errors[0] != kOutOfBudget) {
    metrics_
        ->GetCounter("apiserver_admission_match_condition_evaluation_errors_total",
                     "Match conditions of webhooks and policies that could not be evaluated.", LabelsOf(inputs))
        .Add(static_cast<double>(errors.size()));
  }
  Result failed{.matches = false, .failed_condition = "", .error = ""};
  if (failure_policy_ == FailurePolicy::kFail) failed.error = JoinErrors(errors);
  return failed;
}

MatchConditions::Result MatchConditions::Match(const ExpressionInputs& inputs,
                                               const std::vector<NamedExpression>* variables,
                                               cel::Evaluation& evaluation) const {
  if (conditions_.empty()) return {};
  const SteadyTime start = metrics_ ? clock_->Steady() : SteadyTime();
  Result result = Evaluate(inputs, variables, evaluation);
  const bool provisional = inputs.authorizer && inputs.authorizer->HasOpenQuestion();
  if (metrics_ && !provisional && !result.matches) {
    metrics_
        ->GetHistogram("apiserver_admission_match_condition_evaluation_seconds",
                       "Time to evaluate the match conditions of a webhook or policy.",
                       {0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25}, LabelsOf(inputs))
        .Observe(std::chrono::duration<double>(clock_->Steady() - start).count());
  }
  return result;
}

Task<MatchConditions::Result> MatchConditions::MatchAndAsk(meta::RequestContext ctx, ExpressionInputs inputs,
                                                           AuthorizerAnswers& authorizer) const {
  if (conditions_.empty()) co_return Result{};
  inputs.authorizer = &authorizer;
  for (;;) {
    cel::Evaluation evaluation;
    Result result = Match(inputs, nullptr, evaluation);
    if (!authorizer.HasOpenQuestion()) co_return result;
    co_await authorizer.Ask(ctx);
  }
}

void MatchConditions::CountExclusion(Operation operation) const {
  if (!metrics_) return;
  Attributes attributes;
  attributes.operation = operation;
  ExpressionInputs inputs;
  inputs.attributes = &attributes;
  metrics_
      ->GetCounter("apiserver_admission_match_condition_exclusions_total",
                   "Requests that a webhook or policy did not see because of its match conditions.", LabelsOf(inputs))
      .Add();
}

}  // namespace apimesh::admission
