#include "lib/patch/apply/typed.h"
#include "lib/patch/apply/typed_schema.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

class Remover {
 public:
  json::object RemoveFields(const schema::Node& node, const json::object& object, const FieldSet& items) {
    json::object out(object.storage());
    out.reserve(object.size());
    for (const auto& [key, value] : object) {
      const FieldSet::Entry* entry = items.Find({PathElement::Kind::kField, key});
      if (!entry) {
        out.emplace(key, value);
        continue;
      }
      if (entry->member) continue;
      const schema::Node* child = NodeOfKey(node, key);
      json::value left = child ? Remove(*child, value, entry->children) : value;
      if (!left.is_null()) out.emplace(key, std::move(left));
    }
    return out;
  }

 private:
  /// Returns null if nothing is left.
  json::value Remove(const schema::Node& node, const json::value& value, const FieldSet& items) {
    const json::storage_ptr storage = value.storage();
    switch (ShapeOf(node, value)) {
      case Shape::kScalar: return value;
      case Shape::kMap: {
        if (!value.is_object() || value.get_object().empty() || IsAtomicMap(node)) return json::value(nullptr, storage);
        json::object left = RemoveFields(node, value.get_object(), items);
        return left.empty() ? json::value(nullptr, storage) : json::value(std::move(left));
      }
      case Shape::kList: break;
    }
    if (!value.is_array() || value.get_array().empty() || IsAtomicList(node)) return json::value(nullptr, storage);
    json::array left(storage);
    for (const json::value& item : value.get_array()) {
      const ItemElement element = ElementOfItem(node, item, arena_);
      const FieldSet::Entry* entry = element.error.empty() ? items.Find(element.element) : nullptr;
      if (entry && entry->member) continue;
      left.push_back(entry ? Remove(NodeOfItem(node), item, entry->children) : item);
    }
    return left.empty() ? json::value(nullptr, storage) : json::value(std::move(left));
  }

  TextArena arena_;
};

}  // namespace

json::object RemoveItems(const schema::Node& node, const json::object& value, const FieldSet& items) {
  if (items.Empty()) return json::object(value, value.storage());
  return Remover().RemoveFields(node, value, items);
}

}  // namespace apimesh::patch
