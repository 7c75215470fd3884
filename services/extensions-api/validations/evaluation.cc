#include "services/extensions-api/validations/evaluation.h"

#include <fmt/format.h>

#include "lib/schema/values/findings.h"
#include "lib/schema/values/number_rules.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::PathChain;

constexpr std::size_t kMaxMessageBytes = 5 * 1024;
constexpr char kOutOfBudget[] =
    "validation failed due to running out of cost budget, no further validation rules will be run";

std::string FieldAt(const PathChain& path) {
  std::string text = path.ToString();
  return text.empty() ? schema::kNoField : text;
}

cel::Value View(const json::object* object, const json::value* value, const cel::Shape& shape, cel::Arena& arena) {
  if (object) return cel::Value::FromJson(*object, shape);
  return value ? cel::Value::FromJson(*value, &shape, arena) : cel::Value::Unset();
}

/// The value in a message; objects and lists are left out.
std::string Shown(const json::value* value, std::string_view type) {
  if (!value || type == "object" || type == "array") return "";
  if (value->is_string()) return meta::Quoted(value->get_string());
  return value->is_double() ? schema::NumberText(value->get_double()) : json::serialize(*value);
}

meta::FieldError Failure(const std::optional<std::string>& reason, std::string field, std::string value,
                         std::string detail) {
  if (reason == "FieldValueForbidden") return meta::Forbidden(std::move(field), std::move(detail));
  if (reason == "FieldValueRequired") return meta::Required(std::move(field), std::move(detail));
  if (reason == "FieldValueDuplicate") return meta::Duplicate(std::move(field), std::move(value));
  return meta::Invalid(std::move(field), std::move(value), std::move(detail));
}

std::string EvaluationError(std::string_view error, const ValidationRule& rule) {
  if (error.starts_with("no such overload")) {
    return fmt::format(
        "'{}': call arguments did not match a supported operator, function or macro signature for rule: {}", error,
        rule.Shown());
  }
  return fmt::format("{} evaluating rule: {}", error, rule.Shown());
}

const json::value* Present(const json::value* value) { return value && !value->is_null() ? value : nullptr; }

}  // namespace

void RuleEvaluation::CheckResource(const RuleTree& tree, const json::object& resource, const json::object* before) {
  const PathChain root;
  const Ratchet ratchet{before && correlation_, {nullptr, nullptr, tree.node}, {}};
  Evaluate(tree, {&resource, nullptr}, {before, nullptr}, root, ratchet);
  CheckFields(tree, resource, before, root, ratchet, true);
}

void RuleEvaluation::CheckValue(const RuleTree& tree, const json::value& value, const json::value* before,
                                const PathChain& path) {
  Check(tree, value, before, path, {});
}

void RuleEvaluation::Check(const RuleTree& tree, const json::value& value, const json::value* before,
                           const PathChain& path, const Ratchet& ratchet) {
  if (value.is_null() || budget_ < 0) return;
  Evaluate(tree, {nullptr, &value}, {nullptr, before}, path, ratchet);
  if (value.is_array()) CheckItems(tree, value.get_array(), before, path, ratchet);
  if (value.is_object())
    CheckFields(tree, value.get_object(), before ? before->if_object() : nullptr, path, ratchet, false);
}

void RuleEvaluation::CheckFields(const RuleTree& tree, const json::object& object, const json::object* before,
                                 const PathChain& path, const Ratchet& ratchet, bool root) {
  const auto check = [&](const RuleTree& child, std::string_view name, const json::value& value, const PathChain& at) {
    const json::value* old = before ? Present(meta::FindField(*before, name)) : nullptr;
    Check(child, value, old, at, Field(ratchet, value, name, before, root));
  };
  if (tree.values) {
    for (const auto& [name, value] : object) check(*tree.values, name, value, path.Key(name));
  }
  for (const auto& [name, child] : tree.properties) {
    if (const json::value* value = meta::FindField(object, name)) check(child, name, *value, path.Child(name));
  }
}

void RuleEvaluation::CheckItems(const RuleTree& tree, const json::array& list, const json::value* before,
                                const PathChain& path, const Ratchet& ratchet) {
  for (std::size_t i = 0; tree.items && i < list.size() && budget_ >= 0; ++i) {
    const json::value* old =
        before && correlation_ && tree.node ? correlation_->Item(list[i], *before, *tree.node) : nullptr;
    Check(*tree.items, list[i], old, path.Index(i), Item(ratchet, list[i]));
  }
}

RuleEvaluation::Ratchet RuleEvaluation::Field(const Ratchet& ratchet, const json::value& value, std::string_view name,
                                              const json::object* before, bool root) {
  if (!ratchet.correlated) return ratchet;
  // An update can't show whether the type of a resource changes, because the old object is converted to it.
  if (root && (name == "apiVersion" || name == "kind")) return {};
  const schema::Node* node = ratchet.current.node;
  const json::value* old = before && node ? schema::Correlation::Field(*before, *node, name) : nullptr;
  if (!old) return {false, {}, ratchet.current};
  const schema::Field* field = node->FindField(name);
  return {true, {&value, old, field ? field->schema : node->items}, ratchet.current};
}

RuleEvaluation::Ratchet RuleEvaluation::Item(const Ratchet& ratchet, const json::value& item) {
  if (!ratchet.correlated) return ratchet;
  const Pair& list = ratchet.current;
  const json::value* old = list.before && list.node ? correlation_->Item(item, *list.before, *list.node) : nullptr;
  if (!old) return {false, {}, list};
  return {true, {&item, old, list.node->items}, list};
}

bool RuleEvaluation::Unchanged(const Ratchet& ratchet) {
  const Pair& pair = ratchet.correlated ? ratchet.current : ratchet.parent;
  return pair.now && correlation_->Unchanged(*pair.now, *pair.before, *pair.node);
}

bool RuleEvaluation::Spend(std::uint64_t cost) {
  if (cost > static_cast<std::uint64_t>(budget_)) {
    budget_ = -1;
    return false;
  }
  budget_ -= static_cast<std::int64_t>(cost);
  return true;
}

void RuleEvaluation::Evaluate(const RuleTree& tree, const Subject& self, const Subject& old, const PathChain& path,
                              const Ratchet& ratchet) {
  if (tree.rules.empty()) return;
  if (budget_ <= 0) {
    Add(meta::Invalid(FieldAt(path), meta::Quoted(tree.type), kOutOfBudget));
    budget_ = -1;
    return;
  }
  for (const RuleTree::Rule& rule : tree.rules) {
    if (EvaluateRule(tree, rule, self, old, path, ratchet)) continue;
    budget_ = -1;
    return;
  }
}

bool RuleEvaluation::EvaluateRule(const RuleTree& tree, const RuleTree::Rule& rule, const Subject& self,
                                  const Subject& old, const PathChain& path, const Ratchet& ratchet) {
  const std::string quoted_type = '"' + tree.type + '"';
  const auto invalid = [&](std::string detail) { Add(meta::Invalid(FieldAt(path), quoted_type, std::move(detail))); };
  const CompiledRule& compiled = *rule.compiled;
  if (!compiled.error.empty()) {
    invalid((tree.shape ? "rule compile error: " : "rule compiler initialization error: ") + compiled.error);
    return true;
  }
  if (!compiled.program) return true;
  const bool has_old = old.object || old.value, optional = rule.source.optional_old_self.value_or(false);
  if (compiled.uses_old_self && !has_old && !optional) return true;

  evaluation_.arena.Clear();
  // Without a rule that uses it, oldSelf has no value, not even for a messageExpression.
  const cel::Value before =
      tree.uses_old_self ? View(old.object, old.value, *tree.shape, evaluation_.arena) : cel::Value::Unset();
  const cel::Value now = View(self.object, self.value, *tree.shape, evaluation_.arena);
  const bool wrapped = optional && tree.uses_old_self;
  const cel::Value variables[] = {now, !wrapped  ? before
                                       : has_old ? cel::Value::Some(evaluation_.arena, before)
                                                 : cel::Value::None()};
  const cel::Value result = compiled.program->Evaluate(variables, evaluation_);
  if (!Spend(evaluation_.cost)) {
    invalid(kOutOfBudget);
    return false;
  }
  if (result.IsTrue()) return true;
  if (result.IsError() && result.AsString().starts_with("operation cancelled: actual cost limit exceeded")) {
    invalid(fmt::format("'{}': no further validation rules will be run due to call cost exceeds limit for rule: {}",
                        result.AsString(), rule.source.Shown()));
    return false;
  }
  if (result.IsError()) {
    invalid(EvaluationError(result.AsString(), rule.source));
    return true;
  }

  std::string field = FieldAt(rule.field_path.empty() ? path : path.Child(rule.field_path));
  const auto add = [&](meta::FieldError error) {
    if (compiled.uses_old_self || !Unchanged(ratchet)) {
      Add(std::move(error));
    } else if (warn_) {
      warn_(error.field + ": " + error.Message());
    }
  };
  std::string fatal;
  const cel::Value plain[] = {now, before};
  const std::optional<std::string> message = Message(rule, plain, fatal);
  if (!fatal.empty()) {
    add(meta::Invalid(std::move(field), quoted_type, std::move(fatal)));
    return false;
  }
  std::string detail = message                       ? *message
                       : rule.source.message.empty() ? fmt::format("failed rule: {}", rule.source.Shown())
                                                     : std::string(rule.source.Shown());
  add(Failure(rule.source.reason, std::move(field), Shown(self.value, tree.type), std::move(detail)));
  return true;
}

std::optional<std::string> RuleEvaluation::Message(const RuleTree::Rule& rule, std::span<const cel::Value> variables,
                                                   std::string& error) {
  if (!rule.compiled->message) return std::nullopt;
  const cel::Value result = rule.compiled->message->Evaluate(variables, evaluation_);
  if (!Spend(evaluation_.cost)) {
    error =
        "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be "
        "run";
    return std::nullopt;
  }
  if (result.IsError() && result.AsString().starts_with("operation cancelled: actual cost limit exceeded")) {
    error =
        fmt::format("no further validation rules will be run due to call cost exceeds limit for messageExpression: {}",
                    meta::Quoted(rule.source.message_expression));
    return std::nullopt;
  }
  if (!result.Is(cel::Value::Kind::kString)) return std::nullopt;
  const std::string_view text = Trimmed(result.AsString());
  if (text.empty() || text.size() > kMaxMessageBytes || text.find('\n') != std::string_view::npos) return std::nullopt;
  return std::string(text);
}

}  // namespace apimesh::extensions_api
