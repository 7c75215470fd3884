#include "lib/admission/expressions/match_conditions.h"

#include <algorithm>

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
    uses_authorizer_ = uses_authorizer_ || added.expression->uses_authorizer;
  }
  if (metrics_ && !conditions_.empty()) series_ = std::make_unique<std::array<Series, 4>>();
}

service::Labels MatchConditions::LabelsOf(std::string_view operation) const {
  return {{"name", owner_.name}, {"kind", owner_.kind}, {"type", owner_.type}, {"operation", std::string(operation)}};
}

bool MatchConditions::HasExpressionsOf(const MatchConditions& other) const {
  return std::equal(conditions_.begin(), conditions_.end(), other.conditions_.begin(), other.conditions_.end(),
                    [](const NamedExpression& a, const NamedExpression& b) { return a.expression == b.expression; });
}

MatchConditions::Outcome MatchConditions::Evaluate(const ExpressionInputs& inputs,
                                                   const std::vector<NamedExpression>* variables,
                                                   cel::Evaluation& evaluation) const {
  const SteadyTime start = metrics_ ? clock_->Steady() : SteadyTime();
  Activation activation(inputs, variables, evaluation, Activation::kMatchConditionsBudget);
  Outcome out;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    std::optional<Activation::Outcome> outcome = activation.Evaluate(*conditions_[i].expression);
    if (!outcome) {
      // All conditions are evaluated before the first result counts, so a condition that is false does not decide here.
      out.excluded_by.reset();
      out.errors = {std::string(kOutOfBudget)};
      break;
    }
    if (outcome->Failed()) {
      out.errors.push_back(std::move(outcome->error));
    } else if (outcome->value.IsFalse() && !out.excluded_by) {
      out.excluded_by = i;
    }
  }
  if (metrics_) out.elapsed = clock_->Steady() - start;
  out.provisional = inputs.authorizer && inputs.authorizer->HasOpenQuestion();
  return out;
}

MatchConditions::Result MatchConditions::Conclude(const Outcome& outcome, const Attributes* attributes) const {
  if (!outcome.excluded_by && outcome.errors.empty()) return {};
  Result result{.matches = false, .failed_condition = "", .error = ""};
  if (outcome.excluded_by) {
    result.failed_condition = conditions_[*outcome.excluded_by].name;
  } else if (failure_policy_ == FailurePolicy::kFail) {
    result.error = JoinErrors(outcome.errors);
  }
  if (!metrics_) return result;
  const std::string_view operation = attributes ? ToString(attributes->operation) : "";
  if (!outcome.excluded_by && outcome.errors[0] != kOutOfBudget) {
    metrics_
        ->GetCounter("apiserver_admission_match_condition_evaluation_errors_total",
                     "Match conditions of webhooks and policies that could not be evaluated.", LabelsOf(operation))
        .Add(static_cast<double>(outcome.errors.size()));
  }
  const auto seconds = [&] {
    return metrics_->GetHistogram("apiserver_admission_match_condition_evaluation_seconds",
                                  "Time to evaluate the match conditions of a webhook or policy.",
                                  {0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25}, LabelsOf(operation));
  };
  const double elapsed = std::chrono::duration<double>(outcome.elapsed).count();
  if (!attributes) {
    seconds().Observe(elapsed);
    return result;
  }
  Series& series = (*series_)[static_cast<std::size_t>(attributes->operation)];
  std::call_once(series.once_seconds, [&] { series.seconds = seconds(); });
  series.seconds->Observe(elapsed);
  return result;
}

MatchConditions::Result MatchConditions::Match(const ExpressionInputs& inputs,
                                               const std::vector<NamedExpression>* variables,
                                               cel::Evaluation& evaluation) const {
  if (conditions_.empty()) return {};
  const Outcome outcome = Evaluate(inputs, variables, evaluation);
  return outcome.provisional ? Result() : Conclude(outcome, inputs.attributes);
}

void MatchConditions::CountExclusion(Operation operation) const {
  if (!metrics_) return;
  Series& series = (*series_)[static_cast<std::size_t>(operation)];
  std::call_once(series.once_exclusions, [&] {
    series.exclusions =
        metrics_->GetCounter("apiserver_admission_match_condition_exclusions_total",
                             "Requests that a webhook or policy did not see because of its match conditions.",
                             LabelsOf(ToString(operation)));
  });
  series.exclusions->Add();
}

}  // namespace apimesh::admission
