#pragma once

#include <map>
#include <unordered_map>

#include "lib/base/hash/seeded_hash.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Finds items of a list with x-kubernetes-list-type "map" by their keys. Refers to the list and to the keys.
class ListMapIndex {
 public:
  ListMapIndex(const meta::json::array& items, const std::vector<std::string>& keys);
  /// The first item that has the same keys as `item`; nullptr if there is none. Keys that are absent or no scalars
  /// match nothing.
  const meta::json::value* Find(const meta::json::value& item) const;

 private:
  const std::vector<std::string>& keys_;
  std::unordered_map<std::string, const meta::json::value*, SeededHash, std::equal_to<>> items_;
};

/// Finds the values that an update of a custom resource replaces, and tells which of them are unchanged: errors of
/// unchanged values don't refuse an update. Fields and map entries are correlated by their names, items of list maps by
/// their keys; items of other lists are not correlated. Results are kept for one update. Not thread-safe.
class Correlation {
 public:
  /// The value that the field or map entry `name` of an object with the schema `node` replaces; nullptr if there is
  /// none, or if the schema does not describe the field.
  static const meta::json::value* Field(const meta::json::object& before, const Node& node, std::string_view name);
  /// The value that an item of a list replaces; nullptr if there is none. `before` is the replaced list.
  const meta::json::value* Item(const meta::json::value& item, const meta::json::value& before, const Node& node);
  /// Returns whether a value is equal to the value that it replaces. The order of the items of a list map does not
  /// matter. Objects with fields that the schema does not describe are never equal.
  bool Unchanged(const meta::json::value& now, const meta::json::value& before, const Node& node);

 private:
  bool Same(const meta::json::value& now, const meta::json::value& before, const Node& node);
  bool SameObjects(const meta::json::object& now, const meta::json::object& before, const Node& node);
  bool SameLists(const meta::json::array& now, const meta::json::value& before, const Node& node);

  // By the addresses of new values and of replaced lists. Without them, a deep document with an error at each level
  // would be compared once per level.
  std::unordered_map<const meta::json::value*, bool> unchanged_;
  std::map<const meta::json::array*, ListMapIndex> indexes_;
};

}  // namespace apimesh::schema
