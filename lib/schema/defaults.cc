#include "lib/schema/defaults.h"

#include "lib/meta/object.h"
#include "lib/schema/rules.h"

namespace apimesh::schema {
namespace {

namespace json = boost::json;

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

bool HasStructure(const Node& node) { return node.type == Type::kObject || node.type == Type::kMap || node.type == Type::kList; }

/// A null where none is allowed and no default replaces it is the same as nothing.
void DropNulls(json::object& object, const Node& node) {
  std::vector<std::string> nulls;
  for (const auto& [name, value] : object) {
    if (!value.is_null()) continue;
    const Field* field = node.FindField(name);
    const bool nullable = field ? field->nullable : !node.items || !node.items->rules || node.items->rules->nullable;
    if (!nullable) nulls.emplace_back(name);
  }
  for (const std::string& name : nulls) meta::EraseField(object, name);
}

void ApplyToValue(json::value& value, const Node& node) {
  if (value.is_object() && node.type == Type::kObject) {
    ApplyDefaults(value.get_object(), node);
  } else if (value.is_object() && node.type == Type::kMap) {
    if (node.custom) DropNulls(value.get_object(), node);
    if (!HasStructure(*node.items)) return;
    for (auto& member : value.get_object()) ApplyToValue(member.value(), *node.items);
  } else if (value.is_array() && node.type == Type::kList && node.items && HasStructure(*node.items)) {
    for (json::value& element : value.get_array()) ApplyToValue(element, *node.items);
  }
}

/// Whether ApplyToUnset() could do anything for this field: most have no default, and need not be looked for.
bool CanBeSet(const Field& field) {
  return field.default_value || (!field.pointer && field.number != 0 && field.schema->type == Type::kObject);
}

/// Sets one field that is unset; whether a member was added.
bool ApplyToUnset(json::object& object, const Field& field, json::value* value) {
  if (field.default_value) {
    // An empty map that is not written is no field that somebody owns.
    if (field.number != 0 && !field.pointer && !field.always && IsZero(*field.default_value)) return false;
    if (value) {
      *value = *field.default_value;
      return false;
    }
    return object.emplace(field.name, *field.default_value).second;
  }
  if (value || field.pointer || field.number == 0 || field.schema->type != Type::kObject) return false;
  json::object made(object.storage());
  ApplyDefaults(made, *field.schema);
  return !made.empty() && object.emplace(field.name, std::move(made)).second;
}

void InSchemaOrder(json::object& object, const Node& node) {
  json::object ordered(object.storage());
  ordered.reserve(object.size());
  for (const Field& field : node.fields) {
    if (json::value* value = meta::FindField(object, field.name)) ordered.emplace(field.name, std::move(*value));
  }
  object = std::move(ordered);
}

}  // namespace

void ApplyDefaults(json::object& object, const Node& node) {
  bool added = false;
  for (const Field& field : node.fields) {
    if (!CanBeSet(field)) continue;
    json::value* value = meta::FindField(object, field.name);
    if (IsUnset(value, field, node.custom)) added = ApplyToUnset(object, field, value) || added;
  }
  if (added && !node.custom) InSchemaOrder(object, node);
  if (node.custom) DropNulls(object, node);
  for (auto& member : object) {
    const Field* field = node.FindField(member.key());
    const Node* child = field ? field->schema : node.items;
    if (child) ApplyToValue(member.value(), *child);
  }
}

}  // namespace apimesh::schema
