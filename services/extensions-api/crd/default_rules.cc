#include "services/extensions-api/crd/default_rules.h"

#include <algorithm>

#include "lib/codec/codec.h"
#include "lib/schema/crd.h"
#include "lib/schema/pruning.h"
#include "lib/schema/rules.h"
#include "lib/schema/validation.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::Path;

constexpr std::string_view kHolder = "x";  // a default is checked as the only field of a resource

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

/// `node` is the compiled form of `schema`; nullptr where it has none.
void Walk(const json::object& schema, const schema::Node* node, const Path& path, meta::FieldErrors& errors) {
  if (!node || errors.Full()) return;
  if (const json::value* value = meta::FindField(schema, "default"); value && !value->is_null()) CheckOne(*node, *value, path, errors);
  for (const char* word : {"items", "additionalProperties"}) {
    const json::value* inner = meta::FindField(schema, word);
    if (inner && inner->is_object()) Walk(inner->get_object(), node->items, path.Child(word), errors);
  }
  const json::value* properties = meta::FindField(schema, "properties");
  if (!properties || !properties->is_object()) return;
  for (const auto& [name, property] : properties->get_object()) {
    const schema::Field* field = node->FindField(name);
    if (property.is_object() && field) Walk(property.get_object(), field->schema, path.Child("properties").Key(name), errors);
  }
}

}  // namespace

meta::FieldErrors ValidateDefaults(const json::object& openapi, const Path& path) {
  meta::FieldErrors errors;
  if (!HasDefault(openapi)) return errors;
  // Compiled once: every level of a deep schema may have a default.
  schema::Schema schemas;
  const schema::Node* root = schema::CompileOpenApi(openapi, schemas);
  schemas.Seal();
  Walk(openapi, root, path, errors);
  return errors;
}

}  // namespace apimesh::extensions_api
