#include "services/extensions-api/validations/rule.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/base/hash/seeded_hash.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

constexpr std::string_view kSpace = " \t\n\v\f\r";

/// The name of the type of self. It contains a number that differs between processes, so that rules can't use it.
const std::string& SelfTypeName() {
  static const std::string name = fmt::format("selfType{}", SeededHash()("selfType") % 1'000'000'000);
  return name;
}

/// Messages show the name that the type would have if its schema was not nested.
std::string WithoutPath(std::string text, const SelfType& self) {
  if (self.name == SelfTypeName()) return text;
  for (std::size_t at = 0; (at = text.find(self.name, at)) != std::string::npos; at += SelfTypeName().size())
    text.replace(at, self.name.size(), SelfTypeName());
  return text;
}

struct Expression {
  const char* what;  // the start of messages
  const std::string& text;
  int minor;
  cel::Type::Kind result;
  const char* wrong_type;
};

std::optional<cel::Program> Compile(const Expression& expression, cel::Program::Scope& scope, const SelfType& self,
                                    std::string& error) {
  scope.declarations = &cel::BaseEnvironment(expression.minor);
  cel::Program::Compiled compiled = cel::Program::Compile(expression.text, scope);
  if (!compiled.program) {
    const bool instantiation = compiled.instantiation_failed;
    const std::string_view start = std::string_view(expression.what).empty() && instantiation ? "program " : "";
    error = fmt::format("{}{}{} failed: {}", start, expression.what, instantiation ? "instantiation" : "compilation",
                        WithoutPath(std::move(compiled.error), self));
    return std::nullopt;
  }
  if (!compiled.program->ResultType()->Is(expression.result)) {
    error = expression.wrong_type;
    return std::nullopt;
  }
  return std::move(compiled.program);
}

std::string Text(const json::object& object, std::string_view name) {
  return std::string(meta::FindString(object, name));
}

SelfType Nested(const SelfType& parent, const cel::ShapeRef& shape, std::string_view suffix) {
  return {shape, parent.types, parent.name + "." + std::string(suffix)};
}

}  // namespace

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view ValidationRule::Shown() const { return Trimmed(message.empty() ? rule : message); }

std::vector<ValidationRule> ReadRules(const json::object& schema) {
  std::vector<ValidationRule> rules;
  const json::value* list = meta::FindField(schema, "x-kubernetes-validations");
  if (!list || !list->is_array()) return rules;
  rules.reserve(list->get_array().size());
  for (const json::value& one : list->get_array()) {
    if (!one.is_object()) continue;
    const json::object& object = one.get_object();
    ValidationRule& rule = rules.emplace_back();
    rule.rule = Text(object, "rule");
    rule.message = Text(object, "message");
    rule.message_expression = Text(object, "messageExpression");
    rule.field_path = Text(object, "fieldPath");
    if (const json::value* reason = meta::FindField(object, "reason"); reason && reason->is_string())
      rule.reason = reason->get_string();
    if (const json::value* optional = meta::FindField(object, "optionalOldSelf"); optional && optional->is_bool())
      rule.optional_old_self = optional->get_bool();
  }
  return rules;
}

bool HasRules(const json::object& schema) {
  const json::value* rules = meta::FindField(schema, "x-kubernetes-validations");
  if (rules && rules->is_array() && !rules->get_array().empty()) return true;
  for (const char* word : {"items", "additionalProperties"}) {
    const json::value* inner = meta::FindField(schema, word);
    if (inner && inner->is_object() && HasRules(inner->get_object())) return true;
  }
  const json::value* properties = meta::FindField(schema, "properties");
  if (!properties || !properties->is_object()) return false;
  return std::any_of(properties->get_object().begin(), properties->get_object().end(), [](const auto& property) {
    return property.value().is_object() && HasRules(property.value().get_object());
  });
}

SelfType MakeSelfType(const json::object& schema, bool resource) {
  SelfType self{cel::ShapeOfSchema(schema, SelfTypeName(), resource), nullptr, SelfTypeName()};
  auto types = std::make_shared<cel::ShapeTypes>();
  types->Add(self.shape);
  self.types = std::move(types);
  return self;
}

SelfType PropertyType(const SelfType& parent, std::string_view name) {
  const std::optional<std::string> escaped = cel::EscapeName(name);
  if (!parent.shape || !escaped) return {};
  const auto field = parent.shape->fields.find(*escaped);
  return field == parent.shape->fields.end() ? SelfType() : Nested(parent, field->second.shape, *escaped);
}
SelfType ItemType(const SelfType& parent) {
  return parent.shape ? Nested(parent, parent.shape->element, "@idx") : SelfType();
}
SelfType ValueType(const SelfType& parent) {
  return parent.shape ? Nested(parent, parent.shape->element, "@elem") : SelfType();
}

CompiledRule CompileRule(const ValidationRule& rule, const SelfType& self, const CompileOptions& options) {
  CompiledRule out;
  if (Trimmed(rule.rule).empty()) return out;
  cel::Program::Scope scope;
  scope.types = self.types;
  const bool optional = rule.optional_old_self.value_or(false);
  scope.variables = {{"self", self.shape->type},
                     {"oldSelf", optional ? cel::Type::Optional(self.shape->type) : self.shape->type}};
  const cel::ShapeSizes sizes(self.shape);
  out.program =
      Compile({"", rule.rule, options.rule_minor, cel::Type::Kind::kBool, "cel expression must evaluate to a bool"},
              scope, self, out.error);
  if (!out.program) return out;
  out.uses_old_self = out.program->Uses("oldSelf");
  if (options.estimate) out.max_cost = out.program->EstimateCost(&sizes).max;
  if (rule.message_expression.empty()) return out;
  out.message = Compile({"messageExpression ", rule.message_expression, options.message_minor, cel::Type::Kind::kString,
                         "messageExpression must evaluate to a string"},
                        scope, self, out.message_error);
  if (out.message && options.estimate) out.message_max_cost = out.message->EstimateCost(&sizes).max;
  return out;
}

}  // namespace apimesh::extensions_api
