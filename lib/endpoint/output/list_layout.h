#pragma once

#include <string>
#include <string_view>

#include "lib/codec/negotiation.h"

namespace apimesh::endpoint {

/// Writes a list of JSON items as YAML or indented JSON, item by item. The output is byte for byte that of Convert() in
/// encode.h for the complete document, but only one item is in memory at a time. Use one object per list.
class ListLayout {
 public:
  /// Returns whether the output has a layout other than compact JSON.
  static bool IsFor(const codec::OutputType& output);

  /// `head` and `tail` are the compact JSON before and after the items.
  ListLayout(const codec::OutputType& output, const std::string& head, const std::string& tail);

  /// Returns the text before the next item.
  std::string_view Before();
  /// Converts one item, which is a JSON value.
  std::string Item(std::string_view json) const;
  /// Returns the text after the last item, or the complete list if there was no item.
  std::string End() const { return any_ ? after_ : empty_; }

 private:
  const bool yaml_;
  std::string empty_;  // the list without items
  std::string before_, between_, after_;
  std::size_t indent_ = 0;  // the indentation of the first item
  bool any_ = false;
};

}  // namespace apimesh::endpoint
