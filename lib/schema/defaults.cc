#include "lib/schema/defaults.h"

namespace apimesh::schema {
namespace {

namespace json = boost::json;

void ApplyToValue(json::value& value, const Node& node) {
  if (node.type == Type::kObject && value.is_object()) {
    ApplyDefaults(value.get_object(), node);
  } else if (node.type == Type::kList && node.items && value.is_array()) {
    for (json::value& item : value.get_array()) ApplyToValue(item, *node.items);
  } else if (node.type == Type::kMap && node.items && value.is_object()) {
    for (auto& member : value.get_object()) ApplyToValue(member.value(), *node.items);
  }
}

void ApplyToMissing(json::object& object, const Field& field) {
  if (field.default_value) {
    ApplyToValue(object[field.name] = *field.default_value, *field.schema);
  } else if (!field.pointer && field.number != 0 && field.schema->type == Type::kObject) {
    json::object made(object.storage());
    ApplyDefaults(made, *field.schema);
    if (!made.empty()) object[field.name] = std::move(made);
  }
}

}  // namespace

void ApplyDefaults(json::object& object, const Node& node) {
  for (const Field& field : node.fields) {
    json::value* value = object.if_contains(field.name);
    if (!value) {
      ApplyToMissing(object, field);
    } else if (value->is_null() && field.default_value && !field.nullable) {
      *value = *field.default_value;
      ApplyToValue(*value, *field.schema);
    } else {
      ApplyToValue(*value, *field.schema);
    }
  }
  if (node.type == Type::kObject && node.items) {
    for (auto& member : object) {
      if (!node.FindField(member.key())) ApplyToValue(member.value(), *node.items);
    }
  }
}

}  // namespace apimesh::schema
