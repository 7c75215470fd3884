#include "lib/admission/plugins/validating_admission_policy/validator.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"
#include "lib/cel/library/type_values.h"

namespace apimesh::admission::validating_policy {
namespace {

constexpr std::size_t kMaxMessage = 5 * 1024;

// The message that an expression computed, or "" if it cannot be shown.
std::string_view ComputedMessage(const Activation::Outcome* outcome) {
  if (!outcome || outcome->Failed() || !outcome->value.Is(cel::Value::Kind::kString)) return "";
  const std::string_view message = TrimSpace(outcome->value.AsString());
  return message.size() > kMaxMessage || message.find('\n') != std::string_view::npos ? "" : message;
}

}  // namespace

ExpressionPtr Validator::Note(ExpressionPtr expression) {
  if (!expression->program) return expression;
  uses_request_ = uses_request_ || expression->uses_request;
  uses_namespace_ = uses_namespace_ || expression->program->Uses("namespaceObject");
  return expression;
}

Validator::Validator(const meta::Object& policy, service::Metrics* metrics, const Clock* clock)
    : clock_(metrics ? clock : nullptr) {
  const json::object& spec = SpecOf(policy);
  ignores_failures_ = meta::FindString(spec, "failurePolicy") == "Ignore";
  const bool params = Has(spec, "paramKind");
  const ExpressionOptions options{.params = params, .authorizer = true};
  ExpressionScope scope(cel::kCurrentMinor, true);
  ForEach(spec, "variables", [&](const json::object& variable) {
    const std::string name(meta::FindString(variable, "name"));
    ExpressionPtr compiled =
        Note(CompileExpression(meta::FindString(variable, "expression"), scope, options, ExpressionResult::kAny));
    scope.AddVariable(name, compiled->program ? compiled->program->ResultType() : nullptr);
    variables_.push_back({name, std::move(compiled)});
  });
  conditions_ = MatchConditions(
      &ListAt(spec, "matchConditions"), scope, options,
      ignores_failures_ ? MatchConditions::FailurePolicy::kIgnore : MatchConditions::FailurePolicy::kFail,
      {std::string(policy.Name()), "policy", "validate"}, metrics, clock);
  uses_request_ = uses_request_ || conditions_.UsesRequest();
  ForEach(spec, "validations", [&](const json::object& validation) {
    Rule& rule = rules_.emplace_back();
    rule.expression =
        Note(CompileExpression(meta::FindString(validation, "expression"), scope, options, ExpressionResult::kBool));
    rule.message = meta::FindString(validation, "message");
    if (Has(validation, "reason")) rule.reason = meta::ReasonFromString(meta::FindString(validation, "reason"));
    const std::string_view message = meta::FindString(validation, "messageExpression");
    if (message.empty()) return;
    rule.message_expression = Note(CompileExpression(message, scope, {.params = params}, ExpressionResult::kString));
    ++message_expressions_;
  });
  ForEach(spec, "auditAnnotations", [&](const json::object& annotation) {
    annotations_.push_back({std::string(meta::FindString(annotation, "key")),
                            Note(CompileExpression(meta::FindString(annotation, "valueExpression"), scope, options,
                                                   ExpressionResult::kStringOrNull))});
  });
}

Decision Validator::Failed(std::string message) const {
  Decision decision;
  decision.denies = !ignores_failures_;
  decision.evaluation = Decision::Evaluation::kError;
  decision.message = std::move(message);
  return decision;
}

void Validator::Decide(const Rule& rule, const Activation::Outcome& outcome, const Activation::Outcome* message,
                       Decision& decision) const {
  const Duration elapsed = decision.elapsed;
  if (outcome.Failed()) {
    decision = Failed(outcome.error);
  } else if (!outcome.value.IsTrue()) {
    decision.denies = true;
    decision.evaluation = Decision::Evaluation::kDeny;
    decision.reason = rule.reason;
    decision.message = ComputedMessage(message);
    if (decision.message.empty()) decision.message = TrimSpace(rule.message);
    if (decision.message.empty())
      decision.message = fmt::format("failed expression: {}", TrimSpace(rule.expression->source));
  }
  decision.elapsed = elapsed;
}

bool Validator::NeedsMessages(const std::vector<Activation::Outcome>& outcomes, std::int64_t budget) const {
  if (message_expressions_ == 0) return false;
  constexpr auto kLimit = 2 * static_cast<std::int64_t>(cel::Evaluation::kCostLimit);
  if (budget < kLimit * static_cast<std::int64_t>(message_expressions_ + variables_.size())) return true;
  for (const Activation::Outcome& outcome : outcomes) {
    if (!outcome.Failed() && !outcome.value.IsTrue()) return true;
  }
  return false;
}

std::vector<Annotation> Validator::Annotate(ExpressionInputs inputs, cel::Evaluation& evaluation,
                                            bool& out_of_budget) const {
  std::vector<Annotation> out;
  if (annotations_.empty()) return out;
  inputs.authorizer = nullptr;
  Activation activation(inputs, &variables_, evaluation, Activation::kBudget);
  for (const NamedExpression& annotation : annotations_) {
    const SteadyTime start = Now();
    const std::optional<Activation::Outcome> outcome = activation.Evaluate(*annotation.expression);
    if (!outcome) {
      out_of_budget = true;
      return {};
    }
    Annotation& added = out.emplace_back();
    added.key = annotation.name;
    added.elapsed = Now() - start;
    if (outcome->Failed()) {
      added.action = ignores_failures_ ? Annotation::Action::kExclude : Annotation::Action::kError;
      added.text = outcome->error;
    } else if (outcome->value.Is(cel::Value::Kind::kString)) {
      added.text = TrimSpace(outcome->value.AsString());
      added.action = added.text.empty() ? Annotation::Action::kExclude : Annotation::Action::kPublish;
    } else if (!outcome->value.Is(cel::Value::Kind::kNull)) {
      added.action = Annotation::Action::kError;
      added.text = fmt::format(
          "valueExpression '{}' resulted in unsupported return type: {}. Return type must be either string or null.",
          annotation.expression->source, cel::TypeOfValue(outcome->value)->name);
    }
  }
  return out;
}

Validation Validator::Validate(const ExpressionInputs& inputs, cel::Evaluation& evaluation) const {
  if (!conditions_.Empty()) {
    ExpressionInputs without_namespace = inputs;
    without_namespace.namespace_object = nullptr;
    const MatchConditions::Result match = conditions_.Match(without_namespace, &variables_, evaluation);
    if (!match.error.empty()) return {{Failed(match.error)}, {}};
    if (!match.matches) return {};
  }
  Validation out;
  std::vector<Activation::Outcome> outcomes;
  outcomes.reserve(rules_.size());
  Activation activation(inputs, &variables_, evaluation, Activation::kBudget);
  for (const Rule& rule : rules_) {
    const SteadyTime start = Now();
    std::optional<Activation::Outcome> outcome = activation.Evaluate(*rule.expression);
    if (!outcome) return {{Failed(std::string(kOutOfBudget))}, {}};
    outcomes.push_back(*std::move(outcome));
    out.decisions.emplace_back().elapsed = Now() - start;
  }
  std::vector<std::optional<Activation::Outcome>> messages(rules_.size());
  bool messages_failed = false;
  if (NeedsMessages(outcomes, activation.RemainingBudget())) {
    ExpressionInputs for_messages = inputs;
    for_messages.authorizer = nullptr;
    Activation message_activation(for_messages, &variables_, evaluation, activation.RemainingBudget());
    for (std::size_t i = 0; i < rules_.size() && !messages_failed; ++i) {
      if (!rules_[i].message_expression) continue;
      messages[i] = message_activation.Evaluate(*rules_[i].message_expression);
      messages_failed = !messages[i];
    }
    // The outcomes are read before the activation ends, but their texts are in the arena and stay valid.
  }
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (messages_failed && !outcomes[i].Failed()) {
      const Duration elapsed = out.decisions[i].elapsed;
      out.decisions[i] = Failed(fmt::format("failed messageExpression: {}", kOutOfBudget));
      out.decisions[i].elapsed = elapsed;
    } else {
      Decide(rules_[i], outcomes[i], messages[i] ? &*messages[i] : nullptr, out.decisions[i]);
    }
  }
  bool out_of_budget = false;
  out.annotations = Annotate(inputs, evaluation, out_of_budget);
  if (out_of_budget) return {{Failed(std::string(kOutOfBudget))}, {}};
  return out;
}

}  // namespace apimesh::admission::validating_policy
