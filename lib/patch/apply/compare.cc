#include <algorithm>

#include <fmt/format.h>

#include "lib/base/text/text_index.h"
#include "lib/patch/apply/typed.h"
#include "lib/patch/apply/typed_schema.h"
#include "lib/patch/element_order.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

enum class Mark { kNone, kAdded, kRemoved, kModified };

class Comparer {
 public:
  Comparer(TextArena& arena, TypeErrors& errors) : arena_(arena), errors_(errors) {}

  /// Adds the changes below this path to `below`, and returns the change of the path itself. At most one of `lhs` and
  /// `rhs` is nullptr.
  Mark Compare(const schema::Node& node, const json::value* lhs, const json::value* rhs, Changes& below) {
    const Shape left = lhs ? ShapeOf(node, *lhs) : Shape::kMap;
    const Shape right = rhs ? ShapeOf(node, *rhs) : left;
    if (lhs && rhs && left != right && !HasFixedShape(node)) {
      // Raw JSON changed its shape: the old parts are removed and the new parts added.
      const Mark old_mark = CompareShape(left, node, lhs, rhs, below);
      const Mark new_mark = CompareShape(right, node, lhs, rhs, below);
      return new_mark == Mark::kNone ? old_mark : new_mark;
    }
    return CompareShape(rhs ? right : left, node, lhs, rhs, below);
  }

 private:
  Mark CompareShape(Shape shape, const schema::Node& node, const json::value* lhs, const json::value* rhs,
                    Changes& below) {
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
  /// `has_left`, `has_right`: there is a value, which may be null.
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
    // An object was added or removed, and with it the fields that are encoded even when empty.
    if (const json::object* only = !has_left ? right : !has_right ? left : nullptr) {
      for (const schema::Field& field : node.fields) {
        if (!field.always || !field.schema || only->contains(field.name)) continue;
        const json::value* zero = &ZeroValue(field);
        Visit({PathElement::Kind::kField, field.name}, *field.schema, has_left ? zero : nullptr,
              has_right ? zero : nullptr, below);
      }
    }
    Sort(below);
  }

 private:
  /// The items of a list that have the same keys as an earlier item.
  struct Repeated {
    std::vector<const json::value*> left, right;
  };
  struct Item {
    PathElement element;
    const json::value* left = nullptr;  // the first item with this element
    const json::value* right = nullptr;
    std::uint32_t repeated = 0;  // 0: none; n: index n - 1 of `repeated_`
  };
  /// The items of two lists, in the order of their first occurrence. Lists mostly keep their order, so a lookup first
  /// tries the item after the previous one.
  class Items {
   public:
    explicit Items(std::size_t expected) { items_.reserve(expected); }

    void AddLeft(const PathElement& element, const json::value& value) {
      Item& item = Get(element);
      item.left ? RepeatedOf(item).left.push_back(&value) : void(item.left = &value);
    }
    void AddRight(const PathElement& element, const json::value& value) {
      Item& item = Get(element);
      item.right ? RepeatedOf(item).right.push_back(&value) : void(item.right = &value);
    }
    void StartOver() { next_ = 0; }
    const std::vector<Item>& All() const { return items_; }
    const Repeated* RepetitionsOf(const Item& item) const {
      return item.repeated ? &repeated_[item.repeated - 1] : nullptr;
    }

   private:
    Item& Get(const PathElement& element) {
      if (next_ < items_.size() && items_[next_].element.text == element.text) return items_[next_++];
      const auto [position, is_new] = index_.Add(element.text);
      if (is_new) items_.push_back(Item{element});
      next_ = position + 1;
      return items_[position];
    }
    Repeated& RepeatedOf(Item& item) {
      if (item.repeated == 0) {
        repeated_.emplace_back();
        item.repeated = static_cast<std::uint32_t>(repeated_.size());
      }
      return repeated_[item.repeated - 1];
    }

    std::vector<Item> items_;
    std::vector<Repeated> repeated_;
    TextIndex index_;
    std::size_t next_ = 0;
  };

  template <class Use>
  void ForEachItem(const schema::Node& node, const json::array* list, Use use) {
    if (!list) return;
    for (std::size_t i = 0; i < list->size() && !IsFull(errors_); ++i) {
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
    if (!left || left->empty()) {
      AddItems(node, *right, below);
      return Container(lhs, rhs);
    }
    Items items(std::max(left->size(), right ? right->size() : 0));
    ForEachItem(node, left,
                [&](const PathElement& element, const json::value& value) { items.AddLeft(element, value); });
    items.StartOver();
    ForEachItem(node, right,
                [&](const PathElement& element, const json::value& value) { items.AddRight(element, value); });
    for (const Item& item : items.All()) CompareItem(node, item, items.RepetitionsOf(item), below);
    Sort(below);
    return Container(lhs, rhs);
  }

  /// Adds the items of a new list. They are sorted before their field sets are built, because there may be very many.
  void AddItems(const schema::Node& list, const json::array& added, Changes& below) {
    std::vector<ListItem> items;
    items.reserve(added.size());
    ForEachItem(list, &added,
                [&](const PathElement& element, const json::value& value) { items.push_back({element, &value}); });
    items = SortItems(items);
    below.added.Reserve(items.size());
    for (const ListItem& item : items) {
      Changes children;
      if (item.value) Compare(NodeOfItem(list), nullptr, item.value, children);
      below.added.Append(item.element, true, std::move(children.added));
    }
  }

  /// Compares one item. Items that occur more than once are compared as one atomic value.
  void CompareItem(const schema::Node& list, const Item& item, const Repeated* repeated, Changes& below) {
    const schema::Node& node = NodeOfItem(list);
    if (!repeated) {
      Visit(item.element, node, item.left, item.right, below);
    } else if (!repeated->left.empty() && !repeated->right.empty()) {
      const auto same = [](const json::value* a, const json::value* b) { return SameValue(*a, *b); };
      const bool unchanged =
          SameValue(*item.left, *item.right) && std::equal(repeated->left.begin(), repeated->left.end(),
                                                           repeated->right.begin(), repeated->right.end(), same);
      if (!unchanged) below.modified.Append(item.element, true, {});
    } else if (!repeated->left.empty()) {
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
