#include "services/extensions-api/crd/default_rules.h"

#include <algorithm>

#include "lib/codec/codec.h"
#include "lib/schema/crd.h"
#include "lib/schema/pruning.h"
#include "lib/schema/rules.h"
#include "lib/schema/validation.h"
#include "services/extensions-api/validations/evaluation.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::Path;

constexpr std::string_view kHolder = "x";  // a default is validated as the only field of an object

/// Checks a default with the rules of its schema: as a value that does not change, and as a new value. The budget for
/// the evaluation is that of all defaults together.
void CheckRules(const RuleTree& rules, const json::value& value, const std::string& field, std::int64_t& budget,
                meta::FieldErrors& errors) {
  if (budget < 0) return;
  const meta::PathChain root, path = root.Child(field);
  schema::Correlation correlation;
  std::int64_t remaining = budget;
  for (const json::value* before : {&value, static_cast<const json::value*>(nullptr)}) {
    RuleEvaluation evaluation(&correlation, nullptr, budget);
    evaluation.CheckValue(rules, value, before, path);
    remaining = std::min(remaining, evaluation.Remaining());
    meta::FieldErrors found = evaluation.TakeErrors();
    if (found.empty()) continue;
    errors.Append(std::move(found));
    break;
  }
  budget = remaining;
}

void CheckOne(const schema::Node& node, const json::value& value, const Path& path, meta::FieldErrors& errors) {
  schema::Field holder;
  holder.name = kHolder;
  holder.schema = &node;
  schema::Node outer;
  outer.type = schema::Type::kObject;
  outer.custom = true;
  outer.fields.push_back(std::move(holder));
  outer.rules = std::make_shared<const schema::Node::Rules>();
  schema::Schema schemas;
  const schema::Node* root = schemas.Add(std::move(outer));
  schemas.Seal();
  json::object resource{{kHolder, value}};
  const std::string field = path.Child("default").ToString();
  if (json::object pruned = resource; !schema::Prune(pruned, *root).empty()) {
    errors.push_back(meta::Invalid(field, codec::WriteJson(value), "must not have unknown fields"));
    return;
  }
  for (meta::FieldError error : schema::ValidateCustomResource(resource, *root)) {
    if (error.field.starts_with(kHolder)) error.field = field + error.field.substr(kHolder.size());
    if (error.detail.starts_with(kHolder)) error.detail.erase(0, kHolder.size());
    errors.push_back(std::move(error));
  }
}

const json::object* ObjectAt(const json::object& schema, std::string_view name) {
  const json::value* value = meta::FindField(schema, name);
  return value ? value->if_object() : nullptr;
}

bool HasDefault(const json::object& schema) {
  if (const json::value* value = meta::FindField(schema, "default"); value && !value->is_null()) return true;
  for (const char* word : {"items", "additionalProperties"}) {
    const json::value* inner = meta::FindField(schema, word);
    if (inner && inner->is_object() && HasDefault(inner->get_object())) return true;
  }
  const json::value* properties = meta::FindField(schema, "properties");
  if (!properties || !properties->is_object()) return false;
  return std::any_of(properties->get_object().begin(), properties->get_object().end(), [](const auto& property) {
    return property.value().is_object() && HasDefault(property.value().get_object());
  });
}

const RuleTree* PropertyRules(const RuleTree* rules, std::string_view name) {
  if (!rules) return nullptr;
  const auto found = rules->properties.find(name);
  return found == rules->properties.end() ? nullptr : &found->second;
}

/// What is left for the evaluation of rules, and the errors.
struct Findings {
  std::int64_t budget = RuleEvaluation::kBudget;
  meta::FieldErrors errors;
};

/// `node` is the compiled `schema`; nullptr if there is none. `rules` are those of the schema; may be null.
void Walk(const json::object& schema, const schema::Node* node, const RuleTree* rules, const Path& path,
          Findings& found) {
  if (!node || found.errors.Full()) return;
  if (const json::value* value = meta::FindField(schema, "default"); value && !value->is_null()) {
    const std::size_t before = found.errors.size();
    CheckOne(*node, *value, path, found.errors);
    if (rules && found.errors.size() == before)
      CheckRules(*rules, *value, path.Child("default").ToString(), found.budget, found.errors);
  }
  const json::object* items = ObjectAt(schema, "items");
  if (items) Walk(*items, node->items, rules ? rules->items.get() : nullptr, path.Child("items"), found);
  if (const json::object* values = ObjectAt(schema, "additionalProperties"))
    Walk(*values, node->items, rules ? rules->values.get() : nullptr, path.Child("additionalProperties"), found);
  const json::object* properties = ObjectAt(schema, "properties");
  if (!properties) return;
  for (const auto& [name, property] : *properties) {
    const schema::Field* field = node->FindField(name);
    if (!property.is_object() || !field) continue;
    Walk(property.get_object(), field->schema, PropertyRules(rules, name), path.Child("properties").Key(name), found);
  }
}

}  // namespace

meta::FieldErrors ValidateDefaults(const json::object& openapi, const Path& path) {
  if (!HasDefault(openapi)) return {};
  // Both are compiled once, because every level of a deep schema may have a default.
  schema::Schema schemas;
  const schema::Node* root = schema::CompileOpenApi(openapi, schemas);
  schemas.Seal();
  const std::shared_ptr<const RuleTree> rules = CompileRules(openapi, *root, true);
  Findings found;
  Walk(openapi, root, rules.get(), path, found);
  return std::move(found.errors);
}

}  // namespace apimesh::extensions_api
