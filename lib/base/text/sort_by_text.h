#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace apimesh {

/// The first eight bytes of a text as a number that sorts like the text. Shorter texts are padded with zeros.
inline std::uint64_t FirstEightBytes(std::string_view text) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
  return __builtin_bswap64(word);
}

/// The length of the prefix that the texts of all items have in common.
template <class Items, class TextOf>
std::size_t CommonPrefix(const Items& items, TextOf text_of) {
  if (items.empty()) return 0;
  std::string_view common = text_of(items.front());
  for (const auto& item : items) {
    const std::string_view text = text_of(item);
    common = common.substr(0, text.size());
    if (std::memcmp(common.data(), text.data(), common.size()) == 0) continue;
    common = common.substr(
        0, static_cast<std::size_t>(std::mismatch(common.begin(), common.end(), text.begin()).first - common.begin()));
  }
  return common.size();
}

/// Sorts items by their texts. Most of 300,000 keys differ in the first eight bytes after their common prefix; these
/// bytes are compared as one number that is stored next to the item.
template <class Item, class TextOf>
void SortByText(std::vector<Item>& items, TextOf text_of) {
  constexpr std::size_t kFew = 32;
  const auto less = [&](const Item& a, const Item& b) { return text_of(a) < text_of(b); };
  if (items.size() <= kFew) {
    std::sort(items.begin(), items.end(), less);
    return;
  }
  struct Keyed {
    std::uint64_t key;
    Item item;
  };
  const std::size_t common = CommonPrefix(items, text_of);
  std::vector<Keyed> keyed;
  keyed.reserve(items.size());
  for (const Item& item : items) keyed.push_back({FirstEightBytes(text_of(item).substr(common)), item});
  std::sort(keyed.begin(), keyed.end(),
            [&](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : less(a.item, b.item); });
  std::transform(keyed.begin(), keyed.end(), items.begin(), [](const Keyed& one) { return one.item; });
}

}  // namespace apimesh
