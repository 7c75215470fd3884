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

/// A schema of a custom resource may have properties and no type.
bool HasFields(const Node& node) {
  return node.type == Type::kObject || (node.type == Type::kAny && !node.fields.empty());
}

bool HasStructure(const Node& node) { return HasFields(node) || node.type == Type::kMap || node.type == Type::kList; }

/// Removes nulls that are not allowed and that no default replaced; they are equivalent to an absent field.
void DropNulls(json::object& object, const Node& node) {
  meta::EraseFields(object, [&node](std::string_view name, const json::value& value) {
    if (!value.is_null()) return false;
    const Field* field = node.FindField(name);
    return !(field ? field->nullable : !node.items || !node.items->rules || node.items->rules->nullable);
  });
}

/// Returns whether a default may apply to this field. Most fields have none, so they need not be looked up.
bool CanBeSet(const Field& field) {
  return field.default_value || (!field.pointer && field.number != 0 && field.schema->type == Type::kObject);
}

void InSchemaOrder(json::object& object, const Node& node) {
  json::object ordered(object.storage());
  ordered.reserve(object.size());
  for (const Field& field : node.fields) {
    if (json::value* value = meta::FindField(object, field.name)) ordered.emplace(field.name, std::move(*value));
  }
  object = std::move(ordered);
}

class Defaulter {
 public:
  void Object(json::object& object, const Node& node) {
    bool added = false;
    for (const Field& field : node.fields) {
      if (!CanBeSet(field)) continue;
      json::value* value = meta::FindField(object, field.name);
      if (IsUnset(value, field, node.custom)) added = Unset(object, field, value) || added;
    }
    if (added && !node.custom) InSchemaOrder(object, node);
    if (node.custom) DropNulls(object, node);
    for (auto& member : object) {
      const Field* field = node.FindField(member.key());
      const Node* child = field ? field->schema : node.items;
      if (child) Value(member.value(), *child);
    }
  }

  bool Exhausted() const { return bytes_ > kMaxDefaultBytes; }

 private:
  void Value(json::value& value, const Node& node) {
    if (value.is_object() && HasFields(node)) {
      Object(value.get_object(), node);
    } else if (value.is_object() && node.type == Type::kMap) {
      if (node.custom) DropNulls(value.get_object(), node);
      if (!HasStructure(*node.items)) return;
      for (auto& member : value.get_object()) Value(member.value(), *node.items);
    } else if (value.is_array() && node.type == Type::kList && node.items && HasStructure(*node.items)) {
      for (json::value& element : value.get_array()) Value(element, *node.items);
    }
  }

  /// Sets one unset field. Returns whether a member was added.
  bool Unset(json::object& object, const Field& field, json::value* value) {
    if (field.default_value) {
      // A zero value that is not encoded is not set; otherwise managedFields would list a field that the object does
      // not have.
      if (field.number != 0 && !field.pointer && !field.always && IsZero(*field.default_value)) return false;
      bytes_ += field.name.size() + field.default_bytes + std::string_view("\"\":,").size();
      if (Exhausted()) return false;
      if (value) {
        *value = *field.default_value;
        return false;
      }
      return object.emplace(field.name, *field.default_value).second;
    }
    if (value || field.pointer || field.number == 0 || field.schema->type != Type::kObject) return false;
    json::object made(object.storage());
    Object(made, *field.schema);
    return !made.empty() && object.emplace(field.name, std::move(made)).second;
  }

  std::size_t bytes_ = 0;
};

}  // namespace

bool ApplyDefaults(json::object& object, const Node& node) {
  Defaulter defaulter;
  defaulter.Object(object, node);
  return !defaulter.Exhausted();
}

}  // namespace apimesh::schema
