#include "lib/schema/openapi/openapi_definitions.h"

#include <fmt/format.h>

#include "lib/schema/openapi/openapi_custom.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

json::array Strings(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

json::array Kinds(const std::vector<meta::Gvk>& kinds) {
  json::array array;
  for (const meta::Gvk& kind : kinds)
    array.push_back(json::object{{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}});
  return array;
}

void AddPatchStrategy(const Field& field, json::object& property) {
  std::string strategy = field.patch_merge ? "merge" : "";
  if (field.patch_replace_keys) strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
  if (!field.patch_merge_key.empty()) property["x-kubernetes-patch-merge-key"] = field.patch_merge_key;
  if (!strategy.empty()) property["x-kubernetes-patch-strategy"] = strategy;
}

/// OpenAPI v2 has no oneOf.
json::object IntOrString(OpenApiVersion version) {
  if (version == OpenApiVersion::kV2) return {{"type", "string"}, {"format", "int-or-string"}};
  return {{"format", "int-or-string"},
          {"oneOf", json::array{json::object{{"type", "integer"}}, json::object{{"type", "string"}}}}};
}

json::object Scalar(const Node& node) {
  json::object out;
  out["type"] = node.type == Type::kInteger   ? "integer"
                : node.type == Type::kNumber  ? "number"
                : node.type == Type::kBoolean ? "boolean"
                                              : "string";
  if (!node.format.empty()) out["format"] = node.format;
  if (!node.enums.empty()) out["enum"] = Strings(node.enums);
  return out;
}

}  // namespace

json::object OpenApiDefinitions::Link(std::string_view name) const {
  return {{"$ref",
           fmt::format("{}{}", version_ == OpenApiVersion::kV2 ? "#/definitions/" : "#/components/schemas/", name)}};
}

json::object OpenApiDefinitions::Reference(const Node& node) {
  if (!definitions_.contains(node.name)) {
    definitions_[node.name] = {};  // ends the recursion of types that contain themselves
    json::object definition = Definition(node);
    if (std::string text = texts_.OfDefinition(node.name); !text.empty()) definition["description"] = std::move(text);
    definitions_[node.name] = std::move(definition);
  }
  return Link(node.name);
}

json::object OpenApiDefinitions::Reference(std::string_view definition) {
  const Node* node = schema_.Find(definition);
  return node ? Reference(*node) : Link(definition);
}

json::object OpenApiDefinitions::Definition(const Node& node) {
  json::object out;
  switch (node.type) {
    case Type::kObject: break;
    case Type::kIntOrString: return IntOrString(version_);
    case Type::kQuantity:
      if (version_ == OpenApiVersion::kV2) return {{"type", "string"}};
      return {{"oneOf", json::array{json::object{{"type", "string"}}, json::object{{"type", "number"}}}}};
    case Type::kList: return {{"type", "array"}, {"items", json::object{{"type", "string"}}}};
    case Type::kFieldsV1: return {{"type", "object"}};
    case Type::kAny: return node.name.ends_with(".RawExtension") ? json::object{{"type", "object"}} : json::object();
    case Type::kSchemaOrBool:
    case Type::kSchemaOrArray:
    case Type::kSchemaOrStrings: return out;
    default: return Scalar(node);
  }
  out["type"] = "object";
  json::array required;
  json::object properties;
  std::map<std::string_view, const Field*> sorted;
  for (const Field& field : node.fields) sorted.emplace(field.name, &field);
  for (const auto& [name, field] : sorted) {
    properties[name] = Property(node, *field);
    if (field->required) required.emplace_back(name);
  }
  if (!required.empty()) out["required"] = std::move(required);
  if (!properties.empty()) out["properties"] = std::move(properties);
  if (const auto& kinds = schema_.KindsOf(node); !kinds.empty()) out["x-kubernetes-group-version-kind"] = Kinds(kinds);
  if (node.map_type == MapType::kAtomic) out["x-kubernetes-map-type"] = "atomic";
  return out;
}

json::object OpenApiDefinitions::Property(const Node& owner, const Field& field) {
  json::object out = Value(*field.schema);
  const bool v3 = version_ == OpenApiVersion::kV3;
  if (v3 && field.default_value) {
    out["default"] = *field.default_value;
  } else if (v3 && field.always && !field.pointer && field.schema->type == Type::kObject) {
    out["default"] = json::object();
  }
  AddPatchStrategy(field, out);
  return Finished(std::move(out), owner.name, field.name);
}

json::object OpenApiDefinitions::Finished(json::object property, std::string_view owner, std::string_view field) const {
  if (std::string text = texts_.OfField(owner, field); !text.empty()) property["description"] = std::move(text);
  // OpenAPI v3 allows no other keys next to a reference.
  if (version_ == OpenApiVersion::kV3 && property.size() > 1 && property.contains("$ref")) {
    json::object reference{{"$ref", property["$ref"]}};
    property.erase("$ref");
    property["allOf"] = json::array{std::move(reference)};
  }
  return property;
}

json::object OpenApiDefinitions::Value(const Node& node) {
  if (!node.name.empty()) return Reference(node);
  if (node.type == Type::kMap) {
    json::object out{{"type", "object"}, {"additionalProperties", Value(*node.items)}};
    if (node.map_type == MapType::kAtomic) out["x-kubernetes-map-type"] = "atomic";
    return out;
  }
  if (node.type == Type::kList) {
    json::object out{{"type", "array"}, {"items", Value(*node.items)}};
    if (!node.list_map_keys.empty()) out["x-kubernetes-list-map-keys"] = Strings(node.list_map_keys);
    out["x-kubernetes-list-type"] = node.list_type == ListType::kMap   ? "map"
                                    : node.list_type == ListType::kSet ? "set"
                                                                       : "atomic";
    return out;
  }
  if (node.type == Type::kAny) return {};
  return Scalar(node);
}

json::object OpenApiDefinitions::ResourceFields(std::string_view like, std::string_view metadata) {
  const std::string type = fmt::format("{}{}", kMeta, like);
  return {{"apiVersion", Finished({{"type", "string"}}, type, "apiVersion")},
          {"kind", Finished({{"type", "string"}}, type, "kind")},
          {"metadata", Finished(Reference(fmt::format("{}{}", kMeta, metadata)), type, "metadata")}};
}

void OpenApiDefinitions::AddCustom(const OpenApiResource& resource) {
  const std::string name = DefinitionName(resource, schema_);
  json::object kind =
      PublishedSchema(*resource.custom_schema, version_, ResourceFields("PartialObjectMetadata", "ObjectMeta"));
  kind["x-kubernetes-group-version-kind"] = Kinds({resource.kind});
  definitions_[name] = std::move(kind);
  meta::Gvk list_kind = resource.kind;
  list_kind.kind = resource.list_kind.empty() ? resource.kind.kind + "List" : resource.list_kind;
  json::object fields = ResourceFields("PartialObjectMetadataList", "ListMeta");
  fields["items"] = json::object{{"type", "array"}, {"items", Link(name)}};
  definitions_[ListDefinitionName(resource, schema_)] = {{"type", "object"},
                                                         {"required", json::array{"items"}},
                                                         {"properties", std::move(fields)},
                                                         {"x-kubernetes-group-version-kind", Kinds({list_kind})}};
}

json::object OpenApiDefinitions::Take() {
  json::object all;
  all.reserve(definitions_.size());
  for (auto& [name, definition] : definitions_) all.emplace(name, std::move(definition));
  return all;
}

}  // namespace apimesh::schema
