#include "lib/patch/apply/typed_schema.h"

#include <algorithm>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/json_text.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;
using schema::Type;

/// The node of values for which there is no schema.
const schema::Node& DeducedNode() {
  static const schema::Node node = [] {
    schema::Node any;
    any.type = Type::kAny;
    any.preserve_unknown_fields = true;
    return any;
  }();
  return node;
}

bool IsRaw(const schema::Node& node) {
  switch (node.type) {
    case Type::kObject:
    case Type::kMap:
    case Type::kList:
    case Type::kString:
    case Type::kInteger:
    case Type::kNumber:
    case Type::kBoolean:
    case Type::kBytes:
    case Type::kIntOrString:
    case Type::kQuantity:
    case Type::kTime:
    case Type::kMicroTime:
    case Type::kDuration: return false;
    default: return true;
  }
}

/// Returns whether unknown fields are errors. This holds for built-in kinds, which have protobuf numbers; custom
/// resources are pruned before.
bool IsClosed(const schema::Node& node) {
  return node.type == Type::kObject && !node.preserve_unknown_fields && !node.fields.empty() &&
         node.fields.back().number != 0;
}

}  // namespace

bool HasFixedShape(const schema::Node& node) { return !IsRaw(node); }

Shape ShapeOf(const schema::Node& node, const json::value& value) {
  switch (node.type) {
    case Type::kObject:
    case Type::kMap: return Shape::kMap;
    case Type::kList: return Shape::kList;
    default: break;
  }
  if (!IsRaw(node)) return Shape::kScalar;
  if (value.is_array()) return Shape::kList;
  return value.is_object() || value.is_null() ? Shape::kMap : Shape::kScalar;
}

bool IsAtomicMap(const schema::Node& node) {
  // Raw JSON in a built-in kind (data of a ControllerRevision) has one owner. Values without a schema, which preserve
  // unknown fields, are owned field by field.
  if (IsRaw(node) && !node.custom && !node.preserve_unknown_fields) return true;
  return node.map_type == schema::MapType::kAtomic;
}
bool IsAtomicList(const schema::Node& node) {
  return node.type != Type::kList || node.list_type == schema::ListType::kAtomic;
}

const schema::Node* NodeOfKey(const schema::Node& node, std::string_view key, const schema::Field** found) {
  if (node.type == Type::kObject) {
    if (const schema::Field* field = node.FindField(key)) {
      if (found) *found = field;
      return field->schema ? field->schema : &DeducedNode();
    }
  }
  if (node.items && !IsRaw(node)) return node.items;
  return IsClosed(node) ? nullptr : &DeducedNode();
}

const schema::Node& NodeOfItem(const schema::Node& node) {
  return node.type == Type::kList && node.items ? *node.items : DeducedNode();
}

const json::value& ZeroValue(const schema::Field& field) {
  static const json::value null;
  static const json::value object = json::object();
  static const json::value string = "";
  static const json::value number = 0;
  static const json::value boolean = false;
  static const json::value quantity = "0";
  if (!field.schema || field.pointer) return null;
  switch (field.schema->type) {
    case Type::kObject: return object;
    case Type::kString: return string;
    case Type::kInteger:
    case Type::kNumber:
    case Type::kIntOrString: return number;
    case Type::kBoolean: return boolean;
    case Type::kQuantity: return quantity;
    default: return null;
  }
}

bool IsEmptyMap(const schema::Node& node, const json::object& object) {
  return object.empty() && std::none_of(node.fields.begin(), node.fields.end(), [](const auto& f) { return f.always; });
}

ItemElement ElementOfItem(const schema::Node& list, const json::value& item, TextArena& arena) {
  ItemElement out;
  if (list.list_map_keys.empty()) {
    out.element.kind = PathElement::Kind::kValue;
    if (item.is_object()) {
      out.error = "associative list without keys has an element that's a map type";
    } else if (item.is_array()) {
      out.error = "not supported: associative list with lists as elements";
    } else if (item.is_null()) {
      out.error = "associative list without keys has an element that's an explicit null";
    } else {
      std::string& text = arena.Scratch();
      meta::AppendJsonText(text, item);
      out.element.text = arena.Keep(text);
    }
    return out;
  }
  out.element.kind = PathElement::Kind::kKey;
  if (!item.is_object()) {
    out.error = item.is_null() ? "associative list with keys may not have a null element"
                               : "associative list with keys may not have non-map elements";
    return out;
  }
  boost::container::small_vector<std::pair<std::string_view, const json::value*>, 4> keys;
  for (const std::string& name : list.list_map_keys) {
    const json::value* value = meta::FindField(item.get_object(), name);
    if (!value && list.items && list.items->type == Type::kObject) {
      const schema::Field* field = list.items->FindField(name);
      if (field && field->default_value) {
        value = &*field->default_value;
      } else if (field && field->always) {
        value = &ZeroValue(*field);
      }
    }
    if (value) keys.emplace_back(name, value);
  }
  if (keys.empty()) {
    std::string names;
    for (const std::string& name : list.list_map_keys) names += (names.empty() ? "" : " ") + meta::Quoted(name);
    out.error = fmt::format(
        "associative list with keys has an element that omits all key fields [{}] (and doesn't have "
        "default values for any key fields)",
        names);
    return out;
  }
  std::sort(keys.begin(), keys.end());
  std::string& text = arena.Scratch();
  text += '{';
  for (const auto& [name, value] : keys) {
    if (text.size() > 1) text += ',';
    text += '"';
    text += name;
    text += "\":";
    meta::AppendJsonText(text, *value);
  }
  text += '}';
  out.element.text = arena.Keep(text);
  return out;
}

bool SameValue(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_double() || b.is_double() ? a.to_number<double>() == b.to_number<double>() : a == b;
  }
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) {
    return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(),
                      SameValue);
  }
  return a.is_object() ? SameObject(a.get_object(), b.get_object()) : a == b;
}

bool SameObject(const json::object& a, const json::object& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a) {
    const json::value* other = b.if_contains(key);
    if (!other || !SameValue(value, *other)) return false;
  }
  return true;
}

}  // namespace apimesh::patch
