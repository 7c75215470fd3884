#include "lib/patch/element_order.h"

#include <charconv>
#include <optional>

#include "lib/base/text/sort_by_text.h"

namespace apimesh::patch {
namespace {

using Entry = FieldSet::Entry;
using Kind = PathElement::Kind;

/// Returns the sort key of the rest of a JSON string; the end of the string sorts before any character. nullopt if it
/// contains escapes.
std::optional<std::uint64_t> StringKey(std::string_view rest) {
  std::string_view first = rest.substr(0, sizeof(std::uint64_t));
  first = first.substr(0, first.find('"'));
  if (first.find('\\') != std::string_view::npos) return std::nullopt;
  return FirstEightBytes(first);
}

bool IsPartOfNumber(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '+' || c == 'e' || c == 'E';
}

/// Returns the sort key of an integer of at most 18 digits at the beginning of a text.
std::optional<std::uint64_t> NumberKey(std::string_view rest) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const std::size_t size = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || size > 18 || (size < rest.size() && IsPartOfNumber(rest[size]))) return std::nullopt;
  return static_cast<std::uint64_t>(number) ^ (std::uint64_t{1} << 63);
}

/// `T` is any type that has an `element`.
template <class T>
std::vector<OrderKey> KeysOf(const std::vector<T>& entries) {
  if (entries.empty()) return {};
  const std::string_view first = entries.front().element.text;
  const Kind kind = entries.front().element.kind;
  if (kind == Kind::kIndex) return {};
  for (const T& entry : entries) {
    if (entry.element.kind != kind) return {};
  }
  std::size_t common = CommonPrefix(entries, [](const T& entry) { return entry.element.text; });
  const std::string_view prefix = first.substr(0, common);
  const bool field = kind == Kind::kField;
  if (!field && prefix.find('\\') != std::string_view::npos) return {};
  const bool in_string = !field && std::count(prefix.begin(), prefix.end(), '"') % 2 == 1;
  if (!field && !in_string) {
    while (common > 0 && IsPartOfNumber(first[common - 1])) --common;
  }
  std::vector<OrderKey> keys;
  keys.reserve(entries.size());
  for (const T& entry : entries) {
    const std::string_view rest = entry.element.text.substr(common);
    const std::optional<std::uint64_t> number = field       ? FirstEightBytes(rest)
                                                : in_string ? StringKey(rest)
                                                            : NumberKey(rest);
    if (!number) return {};
    keys.push_back({*number, static_cast<std::uint32_t>(keys.size())});
  }
  return keys;
}

/// Returns the positions of the items in the order of their elements.
std::vector<OrderKey> OrderOf(const std::vector<ListItem>& items) {
  std::vector<OrderKey> order = KeysOf(items);
  if (order.empty()) {
    order.resize(items.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = {0, i};
  }
  const auto less = [&items](const OrderKey& a, const OrderKey& b) {
    return a.number != b.number ? a.number < b.number : Compare(items[a.index].element, items[b.index].element) < 0;
  };
  if (!std::is_sorted(order.begin(), order.end(), less)) std::sort(order.begin(), order.end(), less);
  return order;
}

}  // namespace

std::vector<OrderKey> OrderKeys(const std::vector<Entry>& entries) { return KeysOf(entries); }

std::vector<ListItem> SortItems(const std::vector<ListItem>& items) {
  const std::vector<OrderKey> order = OrderOf(items);
  std::vector<ListItem> sorted;
  sorted.reserve(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ListItem& item = items[order[i].index];
    const bool repeated =
        i > 0 && order[i].number == order[i - 1].number && Compare(sorted.back().element, item.element) == 0;
    if (repeated) {
      sorted.back().value = nullptr;
    } else {
      sorted.push_back(item);
    }
  }
  return sorted;
}

}  // namespace apimesh::patch
