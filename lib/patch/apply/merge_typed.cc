#include <algorithm>

#include <fmt/format.h>

#include "lib/base/async/interrupt.h"
#include "lib/base/text/text_index.h"
#include "lib/patch/apply/typed.h"
#include "lib/patch/apply/typed_schema.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

class MergeWalk {
 public:
  MergeWalk(TypeErrors& errors, json::storage_ptr storage) : errors_(errors), storage_(std::move(storage)) {}

  /// Returns `lhs` merged with `rhs`; one of them may be nullptr. nullopt: the result has no such value.
  std::optional<json::value> Merge(const schema::Node& node, const json::value* lhs, const json::value* rhs) {
    if (Interrupted()) return std::nullopt;
    const json::value* decides = rhs ? rhs : lhs;
    switch (ShapeOf(node, *decides)) {
      case Shape::kMap: {
        const json::object* left = lhs ? lhs->if_object() : nullptr;
        const json::object* right = rhs ? rhs->if_object() : nullptr;
        const bool empty = (!left || left->empty()) && (!right || right->empty());
        if (IsAtomicMap(node) || empty) break;
        json::object merged = MergeFields(node, left, right);
        if (merged.empty()) return std::nullopt;
        return json::value(std::move(merged));
      }
      case Shape::kList: {
        const json::array* left = lhs ? lhs->if_array() : nullptr;
        const json::array* right = rhs ? rhs->if_array() : nullptr;
        const bool empty = (!left || left->empty()) && (!right || right->empty());
        if (IsAtomicList(node) || empty) break;
        json::array merged = MergeItems(node, left, right);
        if (merged.empty()) return std::nullopt;
        return json::value(std::move(merged));
      }
      case Shape::kScalar: break;
    }
    return json::value(*decides, storage_);
  }

  json::object MergeFields(const schema::Node& node, const json::object* left, const json::object* right) {
    json::object out(storage_);
    out.reserve(std::max(left ? left->size() : 0, right ? right->size() : 0));
    const auto add = [&](std::string_view key, const json::value* lhs, const json::value* rhs) {
      const schema::Node* child = NodeOfKey(node, key);
      if (!child) return;
      std::optional<json::value> merged = Merge(*child, lhs, rhs);
      if (merged) out.emplace(key, std::move(*merged));
    };
    if (left) {
      for (const auto& [key, value] : *left) add(key, &value, right ? right->if_contains(key) : nullptr);
    }
    if (right) {
      for (const auto& [key, value] : *right) {
        if (!left || !left->contains(key)) add(key, nullptr, &value);
      }
    }
    return out;
  }

 private:
  /// The items of a list. Items are numbered by the position of their element's text in `texts`.
  struct Indexed {
    TextIndex texts;
    std::vector<const json::value*> items;   // by number; nullptr if the item occurs twice
    std::vector<std::uint32_t> order;        // numbers, in list order
    std::vector<const json::value*> values;  // in list order

    const json::value* Find(std::string_view text) const {
      const std::optional<std::size_t> number = texts.Find(text);
      return number ? items[*number] : nullptr;
    }
  };

  Indexed IndexItems(const schema::Node& node, const json::array* list, bool allow_duplicates) {
    Indexed out;
    if (!list) return out;
    for (std::size_t i = 0; i < list->size() && !Interrupted(); ++i) {
      const ItemElement element = ElementOfItem(node, (*list)[i], arena_);
      if (!element.error.empty()) {
        AddTypeError(errors_, fmt::format("element {}: {}", i, element.error));
        continue;
      }
      const auto [number, is_new] = out.texts.Add(element.element.text);
      if (!is_new && !allow_duplicates) {
        AddTypeError(errors_, fmt::format("duplicate entries for key {}", element.element.ToString()));
        continue;
      }
      if (is_new) {
        out.items.push_back(&(*list)[i]);
      } else {
        out.items[number] = nullptr;
      }
      out.order.push_back(static_cast<std::uint32_t>(number));
      out.values.push_back(&(*list)[i]);
    }
    return out;
  }

  /// Merges two lists. Items keep the order of `left`, except that items in both lists have the order of `right`. Items
  /// that only `right` has follow the item that precedes them there.
  json::array MergeItems(const schema::Node& node, const json::array* left, const json::array* right) {
    json::array out(storage_);
    const Indexed rhs = IndexItems(node, right, false);
    const Indexed lhs = IndexItems(node, left, true);
    if (!errors_.empty()) return out;
    out.reserve(std::max(lhs.order.size(), rhs.order.size()));
    const auto take = [&](const json::value* l, const json::value* r) {
      if (!l && !r) return;
      std::optional<json::value> item = Merge(NodeOfItem(node), l, r);
      if (item) out.push_back(std::move(*item));
    };
    if (lhs.order.empty()) {
      for (const std::uint32_t number : rhs.order) take(nullptr, rhs.items[number]);
      return out;
    }
    constexpr std::uint32_t kNone = 0xffff'ffff;
    std::vector<std::uint32_t> in_right(lhs.texts.size(), kNone);  // the number in `right` of each number in `left`
    std::vector<bool> in_left(rhs.texts.size());
    for (std::size_t number = 0; number < lhs.texts.size(); ++number) {
      if (const std::optional<std::size_t> other = rhs.texts.Find(lhs.texts[number])) {
        in_right[number] = static_cast<std::uint32_t>(*other);
        in_left[*other] = true;
      }
    }
    std::vector<std::uint32_t> shared;  // numbers in `right` of the items in both lists
    for (const std::uint32_t number : rhs.order) {
      if (in_left[number]) shared.push_back(number);
    }
    std::size_t next_shared = 0;
    std::vector<bool> merged(rhs.texts.size());
    const auto take_both = [&](std::uint32_t number) {
      merged[number] = true;
      take(in_left[number] ? lhs.Find(rhs.texts[number]) : nullptr, rhs.items[number]);
    };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < lhs.order.size() || j < rhs.order.size()) {
      if (i < lhs.order.size() && j < rhs.order.size()) {
        const std::uint32_t number = in_right[lhs.order[i]];
        if (number == rhs.order[j]) {
          take_both(number);
          ++i;
          ++j;
          if (next_shared < shared.size()) ++next_shared;
          continue;
        }
        if (number != kNone && next_shared < shared.size() && shared[next_shared] != number) {
          ++i;
          continue;
        }
      }
      if (i < lhs.order.size()) {
        const std::uint32_t number = in_right[lhs.order[i]];
        if (number == kNone) {
          take(lhs.values[i], nullptr);
          ++i;
          continue;
        }
        if (merged[number]) ++i;
      }
      if (j < rhs.order.size()) {
        const std::uint32_t number = rhs.order[j++];
        take_both(number);
        if (next_shared < shared.size() && shared[next_shared] == number) ++next_shared;
      }
    }
    return out;
  }

  TypeErrors& errors_;
  json::storage_ptr storage_;
  TextArena arena_;
};

}  // namespace

json::object MergeTyped(const schema::Node& node, const json::object& live, const json::object& config,
                        TypeErrors& errors) {
  return MergeWalk(errors, live.storage()).MergeFields(node, &live, &config);
}

}  // namespace apimesh::patch
