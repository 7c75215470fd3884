#include <unordered_map>

#include "lib/base/seeded_hash.h"
#include "lib/patch/typed.h"
#include "lib/patch/typed_schema.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

class Collector {
 public:
  explicit Collector(TextArena& arena) : arena_(arena) {}

  /// What lies below a value; true if the value is a leaf itself.
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
      const schema::Field* field = nullptr;
      const schema::Node* child = NodeOfKey(node, key, &field);
      if (!child) continue;
      FieldSet children;
      const bool leaf = Collect(*child, value, children);
      // Keys of maps are members of their own; named fields only where nothing is below them.
      const bool empty = value.is_null() || (value.is_object() && value.get_object().empty());
      below.Append({PathElement::Kind::kField, key}, leaf || empty || !field, std::move(children));
    }
    below.Sort();
  }

 private:
  void CollectItems(const schema::Node& node, const json::array& list, FieldSet& below) {
    std::unordered_map<std::string_view, int, SeededHash> seen;
    std::vector<ItemElement> elements;
    elements.reserve(list.size());
    for (const json::value& item : list) {
      elements.push_back(ElementOfItem(node, item, arena_));
      ++seen[elements.back().element.text];
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!elements[i].error.empty()) continue;
      int& count = seen[elements[i].element.text];
      if (count == 0) continue;
      FieldSet children;
      if (count == 1) Collect(NodeOfItem(node), list[i], children);
      if (count > 1) count = 0;  // a duplicate is owned as a whole, once
      below.Append(elements[i].element, true, std::move(children));
    }
    below.Sort();
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
