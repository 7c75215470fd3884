#include <set>

#include "lib/schema/builtin.h"
#include "lib/schema/crd.h"
#include "lib/schema/crd_fields.h"
#include "lib/schema/rules.h"
#include "lib/schema/values/patterns.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;

void Read(const json::object& schema, std::string_view name, std::optional<double>& out) {
  const json::value* value = meta::FindField(schema, name);
  if (value && value->is_number()) out = value->to_number<double>();
}

void Read(const json::object& schema, std::string_view name, std::optional<std::int64_t>& out) {
  const json::value* value = meta::FindField(schema, name);
  if (value && value->is_int64()) out = value->get_int64();
}

void Read(const json::object& schema, std::string_view name, std::vector<std::string>& out) {
  const json::value* value = meta::FindField(schema, name);
  if (!value || !value->is_array()) return;
  for (const json::value& one : value->get_array()) {
    if (one.is_string()) out.emplace_back(one.get_string());
  }
}

class OpenApiCompiler {
 public:
  explicit OpenApiCompiler(Schema& schema) : schema_(schema) {}

  Node* Root(const json::object& openapi) {
    Node* root = Compile(openapi);
    root->embedded_resource = true;
    AddResourceFields(*root);
    return root;
  }

 private:
  Node* Compile(const json::object& openapi) {
    Node* node = schema_.Add(Node{});
    node->custom = true;
    node->type = TypeOf(openapi);
    node->format = meta::FindString(openapi, "format");
    if (node->type == Type::kInteger && node->format.empty()) node->format = "int64";
    node->preserve_unknown_fields = Flag(openapi, "x-kubernetes-preserve-unknown-fields");
    node->embedded_resource = Flag(openapi, "x-kubernetes-embedded-resource");
    Read(openapi, "x-kubernetes-list-map-keys", node->list_map_keys);
    const std::string_view list_type = meta::FindString(openapi, "x-kubernetes-list-type");
    if (list_type == "set") node->list_type = ListType::kSet;
    if (list_type == "map") node->list_type = ListType::kMap;
    if (meta::FindString(openapi, "x-kubernetes-map-type") == "atomic") node->map_type = MapType::kAtomic;
    AddChildren(openapi, *node);
    node->rules = CompileRules(openapi);
    if (node->embedded_resource) AddResourceFields(*node);
    for (const json::value& one : node->rules->enums) {
      if (one.is_string()) node->enums.emplace_back(one.get_string());
    }
    return node;
  }

  static Type TypeOf(const json::object& openapi) {
    if (Flag(openapi, "x-kubernetes-int-or-string")) return Type::kIntOrString;
    const std::string_view type = meta::FindString(openapi, "type");
    if (type == "object") {
      return ObjectAt(openapi, "additionalProperties") && !ObjectAt(openapi, "properties") ? Type::kMap : Type::kObject;
    }
    if (type == "array") return Type::kList;
    if (type == "string") return Type::kString;
    if (type == "integer") return Type::kInteger;
    if (type == "number") return Type::kNumber;
    if (type == "boolean") return Type::kBoolean;
    return Type::kAny;
  }

  void AddChildren(const json::object& openapi, Node& node) {
    std::vector<std::string> names;
    Read(openapi, "required", names);
    const std::set<std::string> required(names.begin(), names.end());
    if (const json::object* properties = ObjectAt(openapi, "properties")) {
      for (const auto& [name, property] : *properties) {
        if (!property.is_object()) continue;
        Field field;
        field.name = name;
        field.schema = Compile(property.get_object());
        field.nullable = Flag(property.get_object(), "nullable");
        field.required = required.contains(field.name);
        if (const json::value* value = meta::FindField(property.get_object(), "default"); value && !value->is_null()) {
          field.default_value = json::value(*value, json::storage_ptr());
        }
        node.fields.push_back(std::move(field));
      }
    }
    const json::value* additional = meta::FindField(openapi, "additionalProperties");
    if (additional && additional->is_object()) node.items = Compile(additional->get_object());
    if (additional && additional->is_bool() && additional->get_bool()) {
      Node anything;
      anything.custom = true;
      anything.preserve_unknown_fields = true;
      node.items = schema_.Add(std::move(anything));
    }
    if (const json::object* items = ObjectAt(openapi, "items")) node.items = Compile(*items);
  }

  /// Adds kind, apiVersion and metadata, whose schemas are the same for every object.
  void AddResourceFields(Node& node) {
    static const Node& object_meta = *Builtin().Find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    for (const char* name : {"apiVersion", "kind", "metadata"}) {
      const auto known = std::find_if(node.fields.begin(), node.fields.end(),
                                      [name](const Field& field) { return field.name == name; });
      Field field;
      field.name = name;
      const bool metadata = field.name == "metadata";
      if (known != node.fields.end()) {
        if (metadata) {
          if (!known->schema->fields.empty()) RestrictMetadata(node, known->schema);
          known->schema = &object_meta;
        }
        continue;
      }
      Node text;
      text.type = Type::kString;
      text.custom = true;
      field.schema = metadata ? &object_meta : schema_.Add(std::move(text));
      node.fields.push_back(std::move(field));
    }
    std::sort(node.fields.begin(), node.fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
  }

  static void RestrictMetadata(Node& node, const Node* metadata) {
    auto rules = std::make_shared<Node::Rules>(*node.rules);
    rules->metadata = metadata;
    node.rules = std::move(rules);
  }

  std::shared_ptr<const Node::Rules> CompileRules(const json::object& openapi) {
    auto rules = std::make_shared<Node::Rules>();
    rules->typed = !meta::FindString(openapi, "type").empty() || Flag(openapi, "x-kubernetes-int-or-string");
    rules->nullable = Flag(openapi, "nullable");
    rules->format = FindFormat(meta::FindString(openapi, "type"), meta::FindString(openapi, "format"));
    Read(openapi, "minimum", rules->minimum);
    Read(openapi, "maximum", rules->maximum);
    Read(openapi, "multipleOf", rules->multiple_of);
    rules->exclusive_minimum = Flag(openapi, "exclusiveMinimum");
    rules->exclusive_maximum = Flag(openapi, "exclusiveMaximum");
    Read(openapi, "minLength", rules->min_length);
    Read(openapi, "maxLength", rules->max_length);
    Read(openapi, "minItems", rules->min_items);
    Read(openapi, "maxItems", rules->max_items);
    Read(openapi, "minProperties", rules->min_properties);
    Read(openapi, "maxProperties", rules->max_properties);
    rules->unique_items = Flag(openapi, "uniqueItems");
    Read(openapi, "required", rules->required);
    rules->pattern = meta::FindString(openapi, "pattern");
    if (!rules->pattern.empty()) rules->compiled_pattern = CompilePattern(rules->pattern);
    if (const json::value* enums = meta::FindField(openapi, "enum"); enums && enums->is_array()) {
      for (const json::value& one : enums->get_array()) rules->enums.push_back(json::value(one, json::storage_ptr()));
    }
    // Next to x-kubernetes-int-or-string, anyOf repeats what the extension says, so it is skipped.
    Nested(openapi, "anyOf", rules->any_of);
    Nested(openapi, "allOf", rules->all_of);
    Nested(openapi, "oneOf", rules->one_of);
    if (const json::object* inner = ObjectAt(openapi, "not")) rules->not_of = Compile(*inner);
    return rules;
  }

  void Nested(const json::object& openapi, std::string_view name, std::vector<const Node*>& out) {
    const json::value* list = meta::FindField(openapi, name);
    if (!list || !list->is_array()) return;
    for (const json::value& one : list->get_array()) {
      if (one.is_object()) out.push_back(Compile(one.get_object()));
    }
  }

  Schema& schema_;
};

}  // namespace

Node* CompileOpenApi(const json::object& openapi, Schema& schema) { return OpenApiCompiler(schema).Root(openapi); }

}  // namespace apimesh::schema
