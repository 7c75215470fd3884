#include "lib/schema/openapi/openapi_custom.h"

#include <algorithm>

#include "lib/schema/crd_fields.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;

void SetResourceFields(json::object& schema, const json::object& resource_fields) {
  json::object& properties = meta::MakeObject(schema, "properties");
  for (const auto& field : resource_fields) properties[field.key()] = field.value();
}

/// Removes what OpenAPI v2 cannot express, before the schemas inside are visited.
void Reduce(json::object& schema) {
  for (const char* word : {"allOf", "anyOf", "oneOf", "not", "default"}) meta::EraseField(schema, word);
  const bool nullable = Flag(schema, "nullable"), preserve = Flag(schema, "x-kubernetes-preserve-unknown-fields");
  if (nullable) {
    meta::EraseField(schema, "type");
    meta::EraseField(schema, "nullable");
  }
  if (nullable || preserve) {
    meta::EraseField(schema, "items");
    meta::EraseField(schema, "properties");
  }
  const std::string_view type = meta::FindString(schema, "type");
  if ((type == "array" && !schema.contains("items")) || (type == "object" && preserve))
    meta::EraseField(schema, "type");
  // A field that may be null cannot be required.
  json::value* required = meta::FindField(schema, "required");
  json::object* const properties = ObjectAt(schema, "properties");
  if (!required || !required->is_array() || !properties) return;
  json::array kept;
  for (const json::value& name : required->get_array()) {
    const json::object* property = name.is_string() ? ObjectAt(*properties, name.get_string()) : nullptr;
    if (!property || !Flag(*property, "nullable")) kept.push_back(name);
  }
  if (kept.empty()) {
    meta::EraseField(schema, "required");
  } else {
    *required = std::move(kept);
  }
}

/// Adds what v3 shows of values that are a number or a text.
void AddIntOrString(json::object& schema) {
  if (!Flag(schema, "x-kubernetes-int-or-string") || schema.contains("anyOf") || schema.contains("allOf")) return;
  schema["anyOf"] = json::array{json::object{{"type", "integer"}}, json::object{{"type", "string"}}};
}

void AddEmbeddedFields(json::object& schema, const json::object& resource_fields) {
  SetResourceFields(schema, resource_fields);
  json::value& required = schema["required"];
  if (!required.is_array()) required.emplace_array();
  json::array& names = required.get_array();
  for (const char* name : {"kind", "apiVersion"}) {
    const auto same = [name](const json::value& one) { return one.is_string() && one.get_string() == name; };
    if (std::none_of(names.begin(), names.end(), same)) names.emplace_back(name);
  }
}

/// The parser limits the depth of a document.
void Publish(json::object& schema, OpenApiVersion version, const json::object& resource_fields) {
  const bool v2 = version == OpenApiVersion::kV2;
  if (v2) {
    Reduce(schema);
  } else {
    AddIntOrString(schema);
  }
  for (const char* word : {"items", "additionalProperties"}) {
    if (json::object* inner = ObjectAt(schema, word)) Publish(*inner, version, resource_fields);
  }
  if (json::object* properties = ObjectAt(schema, "properties")) {
    for (auto& property : *properties) {
      if (property.value().is_object()) Publish(property.value().get_object(), version, resource_fields);
    }
  }
  const bool open = v2 && Flag(schema, "x-kubernetes-preserve-unknown-fields");
  if (Flag(schema, "x-kubernetes-embedded-resource") && !open) AddEmbeddedFields(schema, resource_fields);
}

}  // namespace

json::object PublishedSchema(const json::object& openapi, OpenApiVersion version, const json::object& resource_fields) {
  if (version == OpenApiVersion::kV2 && Flag(openapi, "x-kubernetes-preserve-unknown-fields"))
    return {{"type", "object"}};
  json::object schema = openapi;
  Publish(schema, version, resource_fields);
  SetResourceFields(schema, resource_fields);
  return schema;
}

}  // namespace apimesh::schema
