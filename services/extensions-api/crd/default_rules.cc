#include "services/extensions-api/crd/default_rules.h"

#include "lib/codec/codec.h"
#include "lib/schema/crd.h"
#include "lib/schema/pruning.h"
#include "lib/schema/validation.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::Path;

constexpr std::string_view kHolder = "x";  // a default is checked as the only field of a resource

void CheckOne(const json::object& schema, const json::value& value, const Path& path, meta::FieldErrors& errors) {
  json::object outer{{"type", "object"}, {"properties", json::object{{kHolder, schema}}}};
  schema::Schema compiled;
  const schema::Node* root = schema::CompileOpenApi(outer, compiled);
  compiled.Seal();
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

void Walk(const json::object& schema, const Path& path, meta::FieldErrors& errors) {
  if (const json::value* value = meta::FindField(schema, "default"); value && !value->is_null()) CheckOne(schema, *value, path, errors);
  for (const char* word : {"items", "additionalProperties"}) {
    const json::value* inner = meta::FindField(schema, word);
    if (inner && inner->is_object()) Walk(inner->get_object(), path.Child(word), errors);
  }
  const json::value* properties = meta::FindField(schema, "properties");
  if (!properties || !properties->is_object()) return;
  for (const auto& [name, property] : properties->get_object()) {
    if (property.is_object()) Walk(property.get_object(), path.Child("properties").Key(name), errors);
  }
}

}  // namespace

meta::FieldErrors ValidateDefaults(const json::object& openapi, const Path& path) {
  meta::FieldErrors errors;
  Walk(openapi, path, errors);
  return errors;
}

}  // namespace apimesh::extensions_api
