#include "services/extensions-api/crd/expressions/expression_rules.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "lib/base/async/interrupt.h"
#include "lib/codec/codec.h"
#include "services/extensions-api/crd/version_rules.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::Path;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kRequestBytes = 3 * 1024 * 1024;
constexpr std::size_t kExpensiveRules = 4;  // that are named if the sum of all costs is too large

std::uint64_t Product(std::uint64_t a, std::uint64_t b) { return a != 0 && b > kMost / a ? kMost : a * b; }

bool Flag(const json::object& schema, std::string_view name) {
  const json::value* value = meta::FindField(schema, name);
  return value && value->is_bool() && value->get_bool();
}

std::optional<std::uint64_t> Limit(const json::object& schema, std::string_view name) {
  const json::value* value = meta::FindField(schema, name);
  if (!value || !value->is_int64()) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value->get_int64()));
}

/// How many nested values a value can have; nothing if there is no limit.
std::optional<std::uint64_t> MaxElements(const json::object& schema) {
  const std::string_view type = meta::FindString(schema, "type");
  if (type == "array") return Limit(schema, "maxItems");
  const json::value* values = meta::FindField(schema, "additionalProperties");
  if (type == "object" && values && !values->is_null()) return Limit(schema, "maxProperties");
  return 1;
}

void Collect(const json::value* value, StoredExpressions& out) {
  if (!value) return;
  if (value->is_array()) {
    for (const json::value& one : value->get_array()) Collect(&one, out);
  }
  if (!value->is_object()) return;
  const json::object& schema = value->get_object();
  for (const ValidationRule& rule : ReadRules(schema)) {
    out.rules.insert(rule.rule);
    if (!rule.message_expression.empty()) out.messages.insert(rule.message_expression);
  }
  for (const char* word : {"items", "additionalProperties", "allOf", "anyOf", "oneOf", "not"})
    Collect(meta::FindField(schema, word), out);
  const json::value* properties = meta::FindField(schema, "properties");
  if (!properties || !properties->is_object()) return;
  for (const auto& [name, property] : properties->get_object()) Collect(&property, out);
}

/// A rule as kube-apiserver prints its Go type.
std::string Shown(const ValidationRule& rule) {
  const json::value reason = rule.reason ? json::value(*rule.reason) : json::value();
  const json::value optional = rule.optional_old_self ? json::value(*rule.optional_old_self) : json::value();
  return codec::WriteJson(json::object{{"Rule", rule.rule},
                                       {"Message", rule.message},
                                       {"MessageExpression", rule.message_expression},
                                       {"Reason", reason},
                                       {"FieldPath", rule.field_path},
                                       {"OptionalOldSelf", optional}});
}

std::string OverBudget(std::string_view what, std::uint64_t cost, std::uint64_t limit) {
  const double factor = static_cast<double>(cost) / static_cast<double>(limit);
  const std::string shown = factor > 100   ? "more than 100x"
                            : factor < 1.5 ? fmt::format("{:f}x", factor)
                                           : fmt::format("{:.1f}x", factor);
  return fmt::format(
      "{} exceeds budget by factor of {} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength "
      "where arrays, maps, and strings are declared)",
      what, shown);
}

meta::FieldError Internal(std::string field, std::string detail) {
  return {meta::FieldError::Type::kInternal, std::move(field), "", std::move(detail)};
}

}  // namespace

StoredExpressions FindExpressions(const meta::Object& crd) {
  StoredExpressions found;
  for (const json::object* version : Versions(crd)) Collect(meta::Find(*version, "schema", "openAPIV3Schema"), found);
  return found;
}

using Scope = ExpressionRules::Scope;

Scope::Scope(const json::object& root) : Scope(nullptr, Step::kRoot, root, "") { cardinality_ = 1; }

Scope::Scope(const Scope* parent, Step step, const json::object& schema, std::string_view name)
    : parent_(parent), step_(step), schema_(schema), name_(name) {
  const json::value* rules = meta::FindField(schema, "x-kubernetes-validations");
  has_rules_ = (parent && parent->has_rules_) || (rules && rules->is_array() && !rules->get_array().empty());
  if (!parent) return;
  uncorrelated_ = parent->uncorrelated_;
  const std::optional<std::uint64_t> factor = MaxElements(parent->schema_);
  if (parent->cardinality_ && factor) cardinality_ = Product(*parent->cardinality_, *factor);
}

Scope Scope::Property(const json::object& schema, std::string_view name) const {
  return {this, Step::kProperty, schema, name};
}
Scope Scope::Values(const json::object& schema) const { return {this, Step::kValues, schema, ""}; }
Scope Scope::Items(const json::object& schema, const Path& list) const {
  Scope items(this, Step::kItems, schema, "");
  // Items of a set are not correlated either.
  if (!items.uncorrelated_ && meta::FindString(schema_, "x-kubernetes-list-type") != "map") items.uncorrelated_ = &list;
  return items;
}

const SelfType& Scope::Type() const {
  if (type_) return *type_;
  type_.emplace();
  if (parent_ && parent_->has_rules_) {
    const SelfType& around = parent_->Type();
    // The schemas inside of one whose type can't be made have no types either.
    if (!around.shape) return *type_;
    switch (step_) {
      case Step::kProperty: *type_ = PropertyType(around, name_); break;
      case Step::kItems: *type_ = ItemType(around); break;
      default: *type_ = ValueType(around); break;
    }
  }
  if (!type_->shape) *type_ = MakeSelfType(schema_, !parent_ || Flag(schema_, "x-kubernetes-embedded-resource"));
  return *type_;
}

void ExpressionRules::Check(const Scope& scope, const Path& path) {
  const std::vector<ValidationRule> rules = ReadRules(scope.schema_);
  if (rules.empty()) return;
  const Path at = path.Child("x-kubernetes-validations");
  const SelfType& self = scope.Type();
  if (!self.shape) {
    errors_.push_back(Internal(at.ToString(),
                               "internal error: failed to construct type information for x-kubernetes-validations "
                               "rules: unable to convert structural schema to CEL declarations"));
    return;
  }
  for (std::size_t i = 0; i < rules.size() && !errors_.Full() && !Interrupted(); ++i)
    CheckRule(scope, rules[i], self, at.Index(i));
}

void ExpressionRules::CheckRule(const Scope& scope, const ValidationRule& rule, const SelfType& self,
                                const Path& path) {
  CompileOptions options;
  const StoredExpressions* stored = options_.stored;
  if (!stored || !stored->rules.contains(rule.rule)) options.rule_minor = cel::kCompatibilityMinor;
  if (!stored || !stored->messages.contains(rule.message_expression)) options.message_minor = cel::kCompatibilityMinor;
  options.estimate = true;
  const CompiledRule compiled = CompileRule(rule, self, options);
  // Paths become text only for an error or an expensive rule: a definition can have 190,000 rules.
  const Path at = path.Child("rule"), message_at = path.Child("messageExpression");
  // Where the schema sets no limit, as many values are assumed as fit into a request.
  const std::uint64_t times = scope.cardinality_.value_or(kRequestBytes / (self.shape->min_serialized_size + 1));
  AddCost(at, Product(compiled.max_cost, times), "estimated rule cost");
  if (!compiled.error.empty()) errors_.push_back(meta::Invalid(at.ToString(), Shown(rule), compiled.error));
  if (!compiled.message_error.empty()) {
    errors_.push_back(meta::Invalid(message_at.ToString(), Shown(rule), compiled.message_error));
  } else if (compiled.message) {
    AddCost(message_at, compiled.message_max_cost, "estimated messageExpression cost");
  }
  if (compiled.uses_old_self) {
    if (scope.uncorrelated_) {
      errors_.push_back(
          meta::Invalid(at.ToString(), meta::Quoted(rule.rule),
                        fmt::format("oldSelf cannot be used on the uncorrelatable portion of the schema within {}",
                                    scope.uncorrelated_->ToString())));
    }
  } else if (rule.optional_old_self) {
    errors_.push_back(meta::Invalid(path.Child("optionalOldSelf").ToString(),
                                    *rule.optional_old_self ? "true" : "false",
                                    "may not be set if oldSelf is not used in rule"));
  }
}

void ExpressionRules::AddCost(const Path& path, std::uint64_t cost, const char* what) {
  if (!options_.unchanged && cost > kRuleCostLimit)
    errors_.push_back(meta::Forbidden(path.ToString(), OverBudget(what, cost, kRuleCostLimit)));
  total_ = kMost - total_ < cost ? kMost : total_ + cost;
  if (cost < kSchemaCostLimit / 100) return;
  most_expensive_.push_back({path.ToString(), cost});
  std::stable_sort(most_expensive_.begin(), most_expensive_.end(),
                   [](const Cost& a, const Cost& b) { return a.cost > b.cost; });
  if (most_expensive_.size() > kExpensiveRules) most_expensive_.pop_back();
}

meta::FieldErrors ExpressionRules::CheckTotal(const Path& root) const {
  meta::FieldErrors errors;
  if (total_ <= kSchemaCostLimit) return errors;
  for (const Cost& one : most_expensive_) {
    errors.push_back(meta::Forbidden(
        one.path, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"));
  }
  errors.push_back(
      meta::Forbidden(root.ToString(), OverBudget("x-kubernetes-validations estimated rule cost total for entire "
                                                  "OpenAPIv3 schema",
                                                  total_, kSchemaCostLimit)));
  return errors;
}

}  // namespace apimesh::extensions_api
