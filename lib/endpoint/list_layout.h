#pragma once

#include <string>
#include <string_view>

#include "lib/codec/negotiation.h"

namespace apimesh::endpoint {

/// A list of JSON items in another layout, YAML or indented JSON, written item by item: byte for byte what the conversion of the whole
/// document gives (Convert() in encode.h), in the memory of one item. One for a list.
class ListLayout {
 public:
  /// Whether such a list has another layout than compact JSON.
  static bool IsFor(const codec::OutputType& output);

  /// `head` and `tail` are what stands before and after the items in compact JSON.
  ListLayout(const codec::OutputType& output, const std::string& head, const std::string& tail);

  /// What stands before the next item.
  std::string_view Before();
  /// An item, which is a JSON value.
  std::string Item(std::string_view json) const;
  /// What stands after the last item; the whole list if there was none.
  std::string End() const { return any_ ? after_ : empty_; }

 private:
  const bool yaml_;
  std::string empty_;  // the list without items
  std::string before_, between_, after_;
  std::size_t indent_ = 0;  // of the first item
  bool any_ = false;
};

}  // namespace apimesh::endpoint
