#include "lib/admission/expressions/activation.h"

#include <fmt/format.h>

namespace apimesh::admission {
namespace {

cel::Value ValueOf(const meta::json::object* document) {
  return document ? cel::Value::FromJson(*document) : cel::Value();
}

cel::AuthorizationQuestion RequestResource(const Attributes& attributes) {
  cel::AuthorizationQuestion question;
  question.group = attributes.resource.group;
  question.resource = attributes.resource.resource;
  question.subresource = attributes.subresource;
  question.namespace_name = attributes.ns;
  question.name = attributes.RequestName();
  return question;
}

}  // namespace

/// The value of `variables`.
class Activation::Variables final : public cel::DynamicMap {
 public:
  explicit Variables(Activation& activation) : activation_(activation) {}
  std::size_t Size() const override { return activation_.variables_->size(); }
  std::optional<cel::Value> Find(std::string_view key) const override {
    const cel::Value value = activation_.Variable(key);
    return value.Is(cel::Value::Kind::kUnset) ? std::nullopt : std::optional(value);
  }

 private:
  Activation& activation_;
};

Activation::Activation(const ExpressionInputs& inputs, const std::vector<NamedExpression>* variables,
                       cel::Evaluation& evaluation, std::int64_t budget)
    : evaluation_(evaluation), variables_(variables), budget_(budget) {
  const auto set = [this](VariableIndex index, cel::Value value) { values_[static_cast<std::size_t>(index)] = value; };
  set(VariableIndex::kObject, ValueOf(inputs.object));
  set(VariableIndex::kOldObject, ValueOf(inputs.old_object));
  set(VariableIndex::kRequest, ValueOf(inputs.request));
  set(VariableIndex::kNamespaceObject, ValueOf(inputs.namespace_object));
  set(VariableIndex::kParams, ValueOf(inputs.params));
  if (inputs.authorizer) {
    set(VariableIndex::kAuthorizer, cel::AuthorizerValue(*inputs.authorizer, evaluation.arena));
    set(VariableIndex::kRequestResource,
        cel::ResourceCheckValue(*inputs.authorizer, RequestResource(*inputs.attributes), evaluation.arena));
  } else {
    set(VariableIndex::kAuthorizer, cel::Value::Unset());
    set(VariableIndex::kRequestResource, cel::Value::Unset());
  }
  set(VariableIndex::kVariables, cel::Value::Unset());
  if (!variables) return;
  computed_.assign(variables->size(), cel::Value::Unset());
  set(VariableIndex::kVariables, cel::Value::Dynamic(evaluation.arena.NewOwned<Variables>(*this)));
}

cel::Value Activation::Variable(std::string_view name) {
  // A later variable replaces an earlier one with the same name.
  for (std::size_t i = variables_->size(); i-- > 0;) {
    const NamedExpression& variable = (*variables_)[i];
    if (variable.name != name) continue;
    if (!computed_[i].Is(cel::Value::Kind::kUnset)) return computed_[i];
    if (!variable.expression->program) {
      computed_[i] = cel::Errorf(evaluation_.arena, "composited variable \"{}\" fails to compile: {}", name,
                                 variable.expression->error);
      return computed_[i];
    }
    cel::Value value = variable.expression->program->Evaluate(values_, evaluation_);
    variables_cost_ += static_cast<std::int64_t>(evaluation_.cost);
    if (value.IsError()) {
      value =
          cel::Errorf(evaluation_.arena, "composited variable \"{}\" fails to evaluate: {}", name, value.AsString());
    }
    computed_[i] = value;
    return value;
  }
  return cel::Value::Unset();
}

std::optional<Activation::Outcome> Activation::Evaluate(const Expression& expression) {
  if (!expression.program) return Outcome{{}, "compilation error: " + expression.error};
  variables_cost_ = 0;
  const cel::Value value = expression.program->Evaluate(values_, evaluation_);
  const std::int64_t cost = variables_cost_ + static_cast<std::int64_t>(evaluation_.cost);
  if (cost > budget_) return std::nullopt;
  budget_ -= cost;
  if (!value.IsError()) return Outcome{value, ""};
  return Outcome{{}, fmt::format("expression '{}' resulted in error: {}", expression.source, value.AsString())};
}

}  // namespace apimesh::admission
