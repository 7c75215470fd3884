#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "lib/base/seeded_hash.h"
#include "lib/patch/typed.h"
#include "lib/patch/typed_schema.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

enum class Mark { kNone, kAdded, kRemoved, kModified };

class Comparer {
 public:
  Comparer(TextArena& arena, TypeErrors& errors) : arena_(arena), errors_(errors) {}

  /// Fills `below` with what changed below this place, and says what happened to the place itself. At most one side is null.
  Mark Compare(const schema::Node& node, const json::value* lhs, const json::value* rhs, Changes& below) {
    const Shape left = lhs ? ShapeOf(node, *lhs) : Shape::kMap;
    const Shape right = rhs ? ShapeOf(node, *rhs) : left;
    if (lhs && rhs && left != right && !HasFixedShape(node)) {
      // Raw JSON that changed its type: the old parts go, the new ones come.
      const Mark old_mark = CompareShape(left, node, lhs, rhs, below);
      const Mark new_mark = CompareShape(right, node, lhs, rhs, below);
      return new_mark == Mark::kNone ? old_mark : new_mark;
    }
    return CompareShape(rhs ? right : left, node, lhs, rhs, below);
  }

 private:
  Mark CompareShape(Shape shape, const schema::Node& node, const json::value* lhs, const json::value* rhs, Changes& below) {
    if (shape == Shape::kScalar) return Leaf(lhs, rhs);
    return shape == Shape::kMap ? CompareMaps(node, lhs, rhs, below) : CompareLists(node, lhs, rhs, below);
  }

  static Mark Leaf(const json::value* lhs, const json::value* rhs) {
    if (!lhs) return Mark::kAdded;
    if (!rhs) return Mark::kRemoved;
    return SameValue(*lhs, *rhs) ? Mark::kNone : Mark::kModified;
  }

  static Mark Container(const json::value* lhs, const json::value* rhs) {
    return !lhs ? Mark::kAdded : !rhs ? Mark::kRemoved : Mark::kNone;
  }

  Mark CompareMaps(const schema::Node& node, const json::value* lhs, const json::value* rhs, Changes& below) {
    const json::object* left = lhs ? lhs->if_object() : nullptr;
    const json::object* right = rhs ? rhs->if_object() : nullptr;
    const bool empty = (!left || IsEmptyMap(node, *left)) && (!right || IsEmptyMap(node, *right));
    if (IsAtomicMap(node) || empty) return Leaf(lhs, rhs);
    CompareFields(node, left, right, lhs != nullptr, rhs != nullptr, below);
    return Container(lhs, rhs);
  }

 public:
  /// `has_left`, `has_right`: there is a value, though perhaps null.
  void CompareFields(const schema::Node& node, const json::object* left, const json::object* right, bool has_left,
                     bool has_right, Changes& below) {
    if (right) {
      if (!left || left->empty()) below.added.Reserve(right->size());
      for (const auto& [key, value] : *right) {
        const schema::Field* field = nullptr;
        const schema::Node* child = NodeOfKey(node, key, &field);
        const json::value* other = left ? left->if_contains(key) : nullptr;
        if (!other && has_left && field && field->always) other = &ZeroValue(*field);
        if (child) Visit({PathElement::Kind::kField, key}, *child, other, &value, below);
      }
    }
    if (left) {
      for (const auto& [key, value] : *left) {
        if (right && right->contains(key)) continue;
        const schema::Field* field = nullptr;
        const schema::Node* child = NodeOfKey(node, key, &field);
        const json::value* other = has_right && field && field->always ? &ZeroValue(*field) : nullptr;
        if (child) Visit({PathElement::Kind::kField, key}, *child, &value, other, below);
      }
    }
    // A whole object came or went, and with it the fields that are written even when they are empty.
    if (const json::object* only = !has_left ? right : !has_right ? left : nullptr) {
      for (const schema::Field& field : node.fields) {
        if (!field.always || !field.schema || only->contains(field.name)) continue;
        const json::value* zero = &ZeroValue(field);
        Visit({PathElement::Kind::kField, field.name}, *field.schema, has_left ? zero : nullptr, has_right ? zero : nullptr,
              below);
      }
    }
    Sort(below);
  }

 private:
  struct Item {
    PathElement element;
    const json::value* left = nullptr;  // the first one
    const json::value* right = nullptr;
    std::vector<const json::value*> more_left, more_right;  // the others; mostly none

    bool Repeats() const { return !more_left.empty() || !more_right.empty(); }
  };

  /// Finds items by the texts of their elements. Lists mostly keep their order, so the next item is the best guess.
  class ItemIndex {
   public:
    Item& Get(std::vector<Item>& items, const PathElement& element) {
      if (next_ < items.size() && items[next_].element.text == element.text) return items[next_++];
      if (items.size() <= kScanned) {
        for (std::size_t i = 0; i < items.size(); ++i) {
          if (items[i].element.text != element.text) continue;
          next_ = i + 1;
          return items[i];
        }
      } else {
        for (; indexed_ < items.size(); ++indexed_) positions_.emplace(items[indexed_].element.text, indexed_);
        if (const auto it = positions_.find(element.text); it != positions_.end()) {
          next_ = it->second + 1;
          return items[it->second];
        }
      }
      items.push_back(Item{element});
      next_ = items.size();
      return items.back();
    }
    void StartOver() { next_ = 0; }

   private:
    static constexpr std::size_t kScanned = 16;
    std::size_t next_ = 0;
    std::size_t indexed_ = 0;
    std::unordered_map<std::string_view, std::size_t, SeededHash> positions_;
  };

  template <class Use>
  void ForEachItem(const schema::Node& node, const json::array* list, Use use) {
    if (!list) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const ItemElement element = ElementOfItem(node, (*list)[i], arena_);
      if (element.error.empty()) {
        use(element.element, (*list)[i]);
      } else {
        AddTypeError(errors_, fmt::format("element {}: {}", i, element.error));
      }
    }
  }

  Mark CompareLists(const schema::Node& node, const json::value* lhs, const json::value* rhs, Changes& below) {
    const json::array* left = lhs ? lhs->if_array() : nullptr;
    const json::array* right = rhs ? rhs->if_array() : nullptr;
    const bool empty = (!left || left->empty()) && (!right || right->empty());
    if (IsAtomicList(node) || empty) return Leaf(lhs, rhs);
    std::vector<Item> items;
    items.reserve(std::max(left ? left->size() : 0, right ? right->size() : 0));
    ItemIndex index;
    ForEachItem(node, left, [&](const PathElement& element, const json::value& value) {
      Item& item = index.Get(items, element);
      item.left ? item.more_left.push_back(&value) : void(item.left = &value);
    });
    index.StartOver();
    ForEachItem(node, right, [&](const PathElement& element, const json::value& value) {
      Item& item = index.Get(items, element);
      item.right ? item.more_right.push_back(&value) : void(item.right = &value);
    });
    if (!left || left->empty()) below.added.Reserve(items.size());
    for (const Item& item : items) CompareItem(node, item, below);
    Sort(below);
    return Container(lhs, rhs);
  }

  /// Items that occur twice count as one atomic thing.
  void CompareItem(const schema::Node& list, const Item& item, Changes& below) {
    const schema::Node& node = NodeOfItem(list);
    if (!item.Repeats()) {
      Visit(item.element, node, item.left, item.right, below);
    } else if (!item.more_left.empty() && !item.more_right.empty()) {
      const auto same = [](const json::value* a, const json::value* b) { return SameValue(*a, *b); };
      const bool unchanged = SameValue(*item.left, *item.right) &&
                             std::equal(item.more_left.begin(), item.more_left.end(), item.more_right.begin(), item.more_right.end(), same);
      if (!unchanged) below.modified.Append(item.element, true, {});
    } else if (!item.more_left.empty()) {
      if (item.right) Visit(item.element, node, nullptr, item.right, below);
      below.removed.Append(item.element, true, {});
    } else {
      if (item.left) Visit(item.element, node, item.left, nullptr, below);
      below.added.Append(item.element, true, {});
    }
  }

  void Visit(const PathElement& element, const schema::Node& node, const json::value* lhs, const json::value* rhs,
             Changes& parent) {
    Changes below;
    const Mark mark = Compare(node, lhs, rhs, below);
    parent.removed.Append(element, mark == Mark::kRemoved, std::move(below.removed));
    parent.modified.Append(element, mark == Mark::kModified, std::move(below.modified));
    parent.added.Append(element, mark == Mark::kAdded, std::move(below.added));
  }

  static void Sort(Changes& changes) {
    changes.removed.Sort();
    changes.modified.Sort();
    changes.added.Sort();
  }

  TextArena& arena_;
  TypeErrors& errors_;
};

}  // namespace

Changes CompareTyped(const schema::Node& node, const json::object& before, const json::object& after, TextArena& arena,
                     TypeErrors& errors) {
  Changes changes;
  Comparer(arena, errors).CompareFields(node, &before, &after, true, true, changes);
  return changes;
}

}  // namespace apimesh::patch
