#include <fmt/format.h>

#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "lib/base/seeded_hash.h"
#include "lib/patch/typed.h"
#include "lib/patch/typed_schema.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

class MergeWalk {
 public:
  MergeWalk(TypeErrors& errors, json::storage_ptr storage) : errors_(errors), storage_(std::move(storage)) {}

  /// `lhs` with what `rhs` says; one of them may be missing. Nothing: the result has no such value.
  std::optional<json::value> Merge(const schema::Node& node, const json::value* lhs, const json::value* rhs) {
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
  struct Indexed {
    std::vector<std::string_view> order;  // texts of the elements
    std::unordered_map<std::string_view, const json::value*, SeededHash> items;  // nullptr: the item occurs twice
  };

  Indexed IndexItems(const schema::Node& node, const json::array* list, bool allow_duplicates) {
    Indexed out;
    if (!list) return out;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const ItemElement element = ElementOfItem(node, (*list)[i], arena_);
      if (!element.error.empty()) {
        AddTypeError(errors_, fmt::format("element {}: {}", i, element.error));
        continue;
      }
      const auto [it, is_new] = out.items.try_emplace(element.element.text, &(*list)[i]);
      if (!is_new && !allow_duplicates) {
        AddTypeError(errors_, fmt::format("duplicate entries for key {}", element.element.ToString()));
        continue;
      }
      if (!is_new) it->second = nullptr;
      out.order.push_back(element.element.text);
    }
    return out;
  }

  /// Items keep the order of `left`; those that both have are in the order of `right`, which brings its new ones after the item
  /// that precedes them there.
  json::array MergeItems(const schema::Node& node, const json::array* left, const json::array* right) {
    json::array out(storage_);
    const Indexed rhs = IndexItems(node, right, false);
    const Indexed lhs = IndexItems(node, left, true);
    if (!errors_.empty()) return out;
    std::deque<std::string_view> shared;
    for (const std::string_view text : rhs.order) {
      if (lhs.items.contains(text)) shared.push_back(text);
    }
    std::unordered_set<std::string_view, SeededHash> merged;
    const auto find = [](const Indexed& from, std::string_view text) {
      const auto it = from.items.find(text);
      return it == from.items.end() ? nullptr : it->second;
    };
    const auto take = [&](const json::value* l, const json::value* r) {
      if (!l && !r) return;
      std::optional<json::value> item = Merge(NodeOfItem(node), l, r);
      if (item) out.push_back(std::move(*item));
    };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < lhs.order.size() || j < rhs.order.size()) {
      if (i < lhs.order.size() && j < rhs.order.size()) {
        const std::string_view text = lhs.order[i];
        if (text == rhs.order[j]) {
          merged.insert(text);
          take(find(lhs, text), find(rhs, text));
          ++i;
          ++j;
          if (!shared.empty()) shared.pop_front();
          continue;
        }
        if (rhs.items.contains(text) && !shared.empty() && shared.front() != text) {
          ++i;
          continue;
        }
      }
      if (i < lhs.order.size()) {
        const std::string_view text = lhs.order[i];
        if (!rhs.items.contains(text)) {
          take(&(*left)[i], nullptr);
          ++i;
          continue;
        }
        if (merged.contains(text)) ++i;
      }
      if (j < rhs.order.size()) {
        const std::string_view text = rhs.order[j++];
        merged.insert(text);
        take(find(lhs, text), find(rhs, text));
        if (!shared.empty() && shared.front() == text) shared.pop_front();
      }
    }
    return out;
  }

  TypeErrors& errors_;
  json::storage_ptr storage_;
  TextArena arena_;
};

}  // namespace

json::object MergeTyped(const schema::Node& node, const json::object& live, const json::object& config, TypeErrors& errors) {
  return MergeWalk(errors, live.storage()).MergeFields(node, &live, &config);
}

}  // namespace apimesh::patch
