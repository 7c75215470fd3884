#pragma once

#include <string_view>

#include "lib/meta/object.h"

/// Reads fields of the JSON of a schema in a CustomResourceDefinition.
namespace apimesh::schema {

/// Whether the field is `true`.
inline bool Flag(const meta::json::object& schema, std::string_view name) {
  const meta::json::value* value = meta::FindField(schema, name);
  return value && value->is_bool() && value->get_bool();
}

/// Returns the field if it is an object, else nullptr.
inline const meta::json::object* ObjectAt(const meta::json::object& schema, std::string_view name) {
  const meta::json::value* value = meta::FindField(schema, name);
  return value ? value->if_object() : nullptr;
}
inline meta::json::object* ObjectAt(meta::json::object& schema, std::string_view name) {
  meta::json::value* value = meta::FindField(schema, name);
  return value ? value->if_object() : nullptr;
}

}  // namespace apimesh::schema
