#include "lib/schema/defaulting.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;

bool IsZero(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return true;
    case json::kind::bool_: return !value.get_bool();
    case json::kind::int64: return value.get_int64() == 0;
    case json::kind::double_: return value.get_double() == 0;
    case json::kind::string: return value.get_string().empty();
    case json::kind::array: return value.get_array().empty();
    case json::kind::object: return value.get_object().empty();
    default: return false;
  }
}

bool IsUnset(const json::value* value, const Field& field, bool custom) {
  if (!value) return true;
  if (custom) return value->is_null() && !field.nullable;
  return field.pointer ? value->is_null() : IsZero(*value);
}

void DefaultValue(json::value& value, const Node& node);

void InSchemaOrder(json::object& object, const Node& node) {
  json::object ordered(object.storage());
  ordered.reserve(object.size());
  for (const Field& field : node.fields) {
    if (json::value* value = meta::FindField(object, field.name)) ordered.emplace(field.name, std::move(*value));
  }
  object = std::move(ordered);
}

void DefaultObject(json::object& object, const Node& node) {
  bool added = false;
  for (const Field& field : node.fields) {
    if (!field.default_value) continue;
    json::value* value = meta::FindField(object, field.name);
    if (!IsUnset(value, field, node.custom)) continue;
    if (value) {
      *value = *field.default_value;
    } else {
      object.emplace(field.name, *field.default_value);
      added = true;
    }
  }
  if (added && !node.custom) InSchemaOrder(object, node);
  for (auto& member : object) {
    if (const Field* field = node.FindField(member.key())) {
      DefaultValue(member.value(), *field->schema);
    } else if (node.items) {
      DefaultValue(member.value(), *node.items);
    }
  }
}

void DefaultValue(json::value& value, const Node& node) {
  if (value.is_object() && node.type == Type::kObject) {
    DefaultObject(value.get_object(), node);
  } else if (value.is_object() && node.type == Type::kMap) {
    if (node.items->type != Type::kObject && node.items->type != Type::kMap && node.items->type != Type::kList) return;
    for (auto& member : value.get_object()) DefaultValue(member.value(), *node.items);
  } else if (value.is_array() && node.type == Type::kList) {
    if (node.items->type != Type::kObject && node.items->type != Type::kMap && node.items->type != Type::kList) return;
    for (json::value& element : value.get_array()) DefaultValue(element, *node.items);
  }
}

}  // namespace

void ApplyDefaults(json::object& document, const Node& node) { DefaultObject(document, node); }

}  // namespace apimesh::schema
