#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lib/patch/apply/field_set.h"

namespace apimesh::patch {

/// A sort key of an element, and the index of the element.
struct OrderKey {
  std::uint64_t number;
  std::uint32_t index;
};

/// Returns sort keys for all elements. If the keys of two elements differ, they have the order of Compare(); if they
/// are equal, Compare() decides. Sets and list maps have up to a million items, and Compare() parses texts. The result
/// is empty if the elements have no such keys: several kinds, escapes, fractions.
std::vector<OrderKey> OrderKeys(const std::vector<FieldSet::Entry>& entries);

/// An item of a set or a list map.
struct ListItem {
  PathElement element;
  const meta::json::value* value;
};
/// Sorts items by their elements. Items with equal elements become one item whose value is nullptr, because they are
/// owned as a unit.
std::vector<ListItem> SortItems(const std::vector<ListItem>& items);

}  // namespace apimesh::patch
