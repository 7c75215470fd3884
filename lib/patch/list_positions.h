#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/text/text_index.h"
#include "lib/meta/object.h"
#include "lib/patch/apply/field_set.h"

namespace apimesh::patch {

/// Returns the identity of a list item: the merge key of an object, the value of a scalar. It is empty for an object
/// without the key, which is not equal to any other item.
std::string IdentityOf(const meta::json::value& item, std::string_view key);

/// The positions of list items by identity. Lists have tens of thousands of items, so they are never searched linearly.
/// The positions stay valid when the items are moved out of the list.
class Positions {
 public:
  explicit Positions(std::string_view key) : key_(key) {}
  Positions(const meta::json::array& list, std::string_view key) : key_(key) {
    for (std::size_t i = 0; i < list.size(); ++i) Add(list[i], i);
  }

  void Add(const meta::json::value& item, std::size_t position);
  /// Returns the first position of an item with the identity of `item`; -1 if there is none.
  std::ptrdiff_t Find(const meta::json::value& item) const;

 private:
  std::string_view key_;
  TextArena arena_;
  TextIndex identities_;
  std::vector<std::uint32_t> first_;
};

/// Sorts the items that the patch names into its order, and keeps items that only the server has in their previous
/// positions.
meta::json::array Reorder(meta::json::array merged, const Positions& patch_order, const Positions& server_order);

}  // namespace apimesh::patch
