#pragma once

#include <optional>

#include "lib/patch/apply/field_set.h"
#include "lib/schema/schema.h"

/// Schema queries of the functions in typed.h. Internal to lib/patch.
namespace apimesh::patch {

enum class Shape { kMap, kList, kScalar };

/// Returns the shape of a value according to its schema. Raw JSON has the shape of the value.
Shape ShapeOf(const schema::Node& node, const meta::json::value& value);
/// Returns whether the schema determines the shape, so that the shapes of two values cannot differ.
bool HasFixedShape(const schema::Node& node);

bool IsAtomicMap(const schema::Node& node);
bool IsAtomicList(const schema::Node& node);

/// Returns the schema of a field or key; nullptr if the schema does not allow it.
const schema::Node* NodeOfKey(const schema::Node& node, std::string_view key, const schema::Field** field = nullptr);
const schema::Node& NodeOfItem(const schema::Node& node);

/// Returns the value that kube-apiserver encodes for an unset field that it always encodes.
const meta::json::value& ZeroValue(const schema::Field& field);
/// Returns whether the object has no keys and its schema has no fields that are always encoded.
bool IsEmptyMap(const schema::Node& node, const meta::json::object& object);

/// The path element of an item of a set or a list map, or an error text if the item has none.
struct ItemElement {
  PathElement element;
  std::string error;
};
ItemElement ElementOfItem(const schema::Node& list, const meta::json::value& item, TextArena& arena);

/// Returns whether two values are equal: 1 equals 1.0, and the order of keys is irrelevant.
bool SameValue(const meta::json::value& a, const meta::json::value& b);
bool SameObject(const meta::json::object& a, const meta::json::object& b);

}  // namespace apimesh::patch
