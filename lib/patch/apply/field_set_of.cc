#include "lib/base/async/interrupt.h"
#include "lib/patch/apply/typed.h"
#include "lib/patch/apply/typed_schema.h"
#include "lib/patch/element_order.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

class Collector {
 public:
  explicit Collector(TextArena& arena) : arena_(arena) {}

  /// Adds the paths below a value to `below`. Returns whether the value itself is a leaf.
  bool Collect(const schema::Node& node, const json::value& value, FieldSet& below) {
    switch (ShapeOf(node, value)) {
      case Shape::kScalar: return true;
      case Shape::kMap:
        if (IsAtomicMap(node)) return true;
        if (value.is_object()) CollectFields(node, value.get_object(), below);
        return false;
      case Shape::kList:
        if (IsAtomicList(node)) return true;
        if (value.is_array()) CollectItems(node, value.get_array(), below);
        return false;
    }
    return false;
  }

  void CollectFields(const schema::Node& node, const json::object& object, FieldSet& below) {
    for (const auto& [key, value] : object) {
      if (Interrupted()) return;
      const schema::Field* field = nullptr;
      const schema::Node* child = NodeOfKey(node, key, &field);
      if (!child) continue;
      FieldSet children;
      const bool leaf = Collect(*child, value, children);
      // Keys of maps are always members; named fields are members only if nothing is below them.
      const bool empty = value.is_null() || (value.is_object() && value.get_object().empty());
      below.Append({PathElement::Kind::kField, key}, leaf || empty || !field, std::move(children));
    }
    below.Sort();
  }

 private:
  void CollectItems(const schema::Node& node, const json::array& list, FieldSet& below) {
    std::vector<ListItem> items;
    items.reserve(list.size());
    for (const json::value& value : list) {
      if (Interrupted()) return;
      const ItemElement item = ElementOfItem(node, value, arena_);
      if (item.error.empty()) items.push_back({item.element, &value});
    }
    items = SortItems(items);
    below.Reserve(items.size());
    for (const ListItem& item : items) {
      if (Interrupted()) return;
      FieldSet children;
      if (item.value) Collect(NodeOfItem(node), *item.value, children);
      below.Append(item.element, true, std::move(children));
    }
  }

  TextArena& arena_;
};

}  // namespace

FieldSet ToFieldSet(const schema::Node& node, const json::object& value, TextArena& arena) {
  FieldSet set;
  Collector(arena).CollectFields(node, value, set);
  return set;
}

}  // namespace apimesh::patch
