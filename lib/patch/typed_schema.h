#pragma once

#include <optional>

#include "lib/patch/field_set.h"
#include "lib/schema/schema.h"

/// What the typed walks ask of a schema. Internal to lib/patch.
namespace apimesh::patch {

enum class Shape { kMap, kList, kScalar };

/// The shape that a node gives to a value. Raw JSON takes the value's own.
Shape ShapeOf(const schema::Node& node, const meta::json::value& value);
/// The type of a value is its schema's, whatever it is: shapes of two values cannot differ.
bool HasFixedShape(const schema::Node& node);

bool IsAtomicMap(const schema::Node& node);
bool IsAtomicList(const schema::Node& node);

/// The schema of a field or key; nullptr if the schema does not allow it.
const schema::Node* NodeOfKey(const schema::Node& node, std::string_view key, const schema::Field** field = nullptr);
const schema::Node& NodeOfItem(const schema::Node& node);

/// How the reference writes an unset field that it always writes.
const meta::json::value& ZeroValue(const schema::Field& field);
/// No keys, and none that are always written.
bool IsEmptyMap(const schema::Node& node, const meta::json::object& object);

/// The path element of an item of a set or a list map; an error text if it has none.
struct ItemElement {
  PathElement element;
  std::string error;
};
ItemElement ElementOfItem(const schema::Node& list, const meta::json::value& item, TextArena& arena);

/// Equal as values: 1 is 1.0, and the order of keys does not matter.
bool SameValue(const meta::json::value& a, const meta::json::value& b);

}  // namespace apimesh::patch
