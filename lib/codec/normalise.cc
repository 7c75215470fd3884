#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "lib/codec/custom_resource.h"
#include "lib/codec/go_time.h"
#include "lib/codec/stored_form.h"
#include "lib/codec/strict_path.h"
#include "lib/codec/zero_values.h"
#include "lib/meta/quantity.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;
using schema::Field;
using schema::Node;
using schema::Type;

/// Converts "io.k8s.api.core.v1.Pod" to "v1.Pod".
std::string_view GoStructName(std::string_view definition) {
  const std::size_t type = definition.rfind('.');
  const std::size_t package = type == std::string_view::npos ? type : definition.rfind('.', type - 1);
  return package == std::string_view::npos ? definition : definition.substr(package + 1);
}

std::string GoTypeName(const Node& node) {
  switch (node.type) {
    case Type::kInteger: return node.format.empty() ? "int64" : node.format;
    case Type::kNumber: return "float64";
    case Type::kBoolean: return "bool";
    case Type::kBytes: return "[]uint8";
    case Type::kList: return node.name.empty() ? "[]" + GoTypeName(*node.items) : std::string(GoStructName(node.name));
    case Type::kMap: return "map[string]" + GoTypeName(*node.items);
    case Type::kObject: return std::string(GoStructName(node.name));
    case Type::kIntOrString: return "int32";
    default: return "string";
  }
}

std::string_view KindName(const json::value& value) {
  switch (value.kind()) {
    case json::kind::bool_: return "bool";
    case json::kind::string: return "string";
    case json::kind::array: return "array";
    case json::kind::object: return "object";
    default: return "number";
  }
}

/// Normalises a document as decoding into the Go type does. Fields are processed in document order, so that the first
/// error is the one that Go reports.
class Normaliser {
 public:
  explicit Normaliser(Strictness* strict, bool for_store = false) : strict_(strict), for_store_(for_store) {
    if (!strict_ || strict_->duplicates.empty()) return;
    duplicates_ = std::exchange(strict_->duplicates, {});
    std::erase_if(strict_->complaints, [](const std::string& text) { return text.starts_with("duplicate field "); });
    strict_->path_bytes = 0;
  }

  bool Object(json::object& object, const Node& node) {
    boost::container::small_vector<json::value*, 48> slots(node.fields.size(), nullptr);
    bool rebuild = false;
    std::ptrdiff_t last = -1;
    std::size_t place = 0;
    for (auto& member : object) {
      NameDuplicates(place++, &node);
      const Field* field = node.FindField(member.key());
      if (!field) {
        if (strict_ && strict_->WantsMore()) AddComplaint(*strict_, "unknown field", path_.Child(member.key()));
        rebuild = true;
        continue;
      }
      const std::ptrdiff_t index = field - node.fields.data();
      rebuild = rebuild || index < last;
      last = index;
      slots[static_cast<std::size_t>(index)] = &member.value();
      if (!member.value().is_null() && !Member(member.value(), node, *field)) return false;
    }
    NameDuplicates(place, &node);
    if (!DropEmptyAddRequired(node, slots, rebuild)) return false;
    if (!rebuild) return true;
    json::object ordered(object.storage());
    ordered.reserve(slots.size() - static_cast<std::size_t>(std::count(slots.begin(), slots.end(), nullptr)));
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i]) ordered.emplace(node.fields[i].name, std::move(*slots[i]));
    }
    object = std::move(ordered);
    return true;
  }

  meta::ApiError TakeError() { return added_bytes_ > kMaxAddedBytes ? TooLargeToStore() : meta::BadRequest(error_); }

 private:
  bool Member(json::value& value, const Node& node, const Field& field) {
    trail_.emplace_back(&node, &field);
    const std::size_t mark = path_.Mark();
    if (strict_) path_.PushKey(field.name);
    const bool fine = Value(value, *field.schema, field.go_type);
    path_.Reset(mark);
    trail_.pop_back();
    return fine;
  }

  /// Reports the duplicates of the object at path_ that occur after `place` of its fields. If `node` is not null, only
  /// fields of `node` are reported.
  void NameDuplicates(std::size_t place, const Node* node) {
    std::optional<std::string> here;  // computed once, because there may be a hundred duplicates
    for (const Strictness::Duplicate& one : duplicates_) {
      if (one.after != place || (node && !node->FindField(one.key))) continue;
      if (!here) here = path_.Text();
      if (one.parent != *here) continue;
      AddComplaint(*strict_, "duplicate field", path_.Child(one.key));
    }
  }

  /// Returns the path of the current field as in Go's error messages: JSON names without indexes, with the innermost
  /// struct in front, as in "PodSpec.spec.containers".
  std::string Place() const {
    std::string_view name = GoStructName(trail_.back().first->name);
    name.remove_prefix(std::min(name.size(), name.find('.') + 1));
    std::string place(name);
    for (const auto& [node, field] : trail_) {
      for (const auto& [path, inline_name] : node->inline_names) {
        if (field->inline_path != 0 && path == field->inline_path) place += '.' + inline_name;
      }
      place += '.' + field->name;
    }
    return place;
  }

  /// Decides for every field whether it is written: removes empty fields and adds fields that are always written.
  bool DropEmptyAddRequired(const Node& node, boost::container::small_vector<json::value*, 48>& slots, bool& rebuild) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const Field& field = node.fields[i];
      json::value*& slot = slots[i];
      if (slot && slot->is_null() && !field.always) slot = nullptr, rebuild = true;
      if (slot && !slot->is_null()) {
        if (field.pointer || !IsEmpty(*slot, *field.schema)) continue;
        if (!field.always) slot = nullptr, rebuild = true;
        if (field.always && for_store_ && ZeroValue(*field.schema).is_null()) *slot = nullptr;
        continue;
      }
      if (!field.always) continue;
      if (!slot) {
        added_bytes_ += field.name.size() + std::string_view("\"\":{},").size();
        if (added_bytes_ > kMaxAddedBytes) return false;
        slot = &added_.emplace_back(nullptr);
        rebuild = true;
      }
      if (!field.pointer) *slot = ZeroValue(*field.schema);
      if (slot->is_object() && field.schema->type == Type::kObject && !Object(slot->get_object(), *field.schema))
        return false;
    }
    return true;
  }

  bool Value(json::value& value, const Node& node, std::string_view go_type) {
    switch (node.type) {
      case Type::kObject: return value.is_object() ? Object(value.get_object(), node) : Mismatch(value, node, go_type);
      case Type::kList: return List(value, node, go_type);
      case Type::kMap: return Map(value, node, go_type);
      case Type::kString:
      case Type::kDuration: return value.is_string() || Mismatch(value, node, go_type);
      case Type::kBoolean: return value.is_bool() || Mismatch(value, node, go_type);
      case Type::kInteger: return Integer(value, node, go_type);
      case Type::kNumber:
        return value.is_number() ? (value = value.to_number<double>(), true) : Mismatch(value, node, go_type);
      case Type::kBytes: return Bytes(value, node);
      case Type::kIntOrString: return value.is_string() || Integer(value, kInt32, "");
      case Type::kQuantity: return Quantity(value);
      case Type::kTime:
      case Type::kMicroTime: return Time(value, node);
      case Type::kSchemaOrBool:
      case Type::kSchemaOrArray:
      case Type::kSchemaOrStrings: return SchemaOr(value, node);
      case Type::kAny:
      case Type::kFieldsV1: return true;
    }
    return true;
  }

  bool List(json::value& value, const Node& node, std::string_view go_type) {
    if (!value.is_array()) return Mismatch(value, node, go_type);
    if (go_type.starts_with("[]")) {
      go_type.remove_prefix(2);
    } else {
      go_type = {};
    }
    std::size_t index = 0;
    for (json::value& element : value.get_array()) {
      const std::size_t mark = path_.Mark();
      if (strict_) path_.PushIndex(index++);
      if (!Element(element, *node.items, go_type)) return false;
      path_.Reset(mark);
    }
    return true;
  }

  bool Map(json::value& value, const Node& node, std::string_view go_type) {
    if (!value.is_object()) return Mismatch(value, node, go_type);
    go_type = go_type.starts_with("map[") ? go_type.substr(go_type.find(']') + 1) : std::string_view();
    json::object& object = value.get_object();
    bool sorted = true;
    std::string_view last;
    std::size_t place = 0;
    for (auto& member : object) {
      NameDuplicates(place++, nullptr);
      const std::string_view key = member.key();
      sorted = sorted && (last.empty() || last < key);
      last = key;
      const std::size_t mark = path_.Mark();
      if (strict_) path_.PushKey(key);
      if (!Element(member.value(), *node.items, go_type)) return false;
      path_.Reset(mark);
    }
    NameDuplicates(place, nullptr);
    if (!sorted) SortKeys(object);
    return true;
  }

  /// Replaces a null element with the zero value of its type.
  bool Element(json::value& element, const Node& node, std::string_view go_type) {
    if (element.is_null()) element = ZeroValue(node);
    return element.is_null() || Value(element, node, go_type);
  }

  bool Integer(json::value& value, const Node& node, std::string_view go_type) {
    if (!value.is_number()) return Mismatch(value, node, go_type);
    const std::int64_t* integer = value.if_int64();
    const bool fits = integer && (node.format != "int32" || (*integer >= std::numeric_limits<std::int32_t>::min() &&
                                                             *integer <= std::numeric_limits<std::int32_t>::max()));
    if (fits) return true;
    std::string text = WriteJson(value);
    // The number had a fraction or an exponent in the request, but the original text is not available.
    if (value.is_double() && text.find_first_of(".e") == std::string::npos && std::abs(value.get_double()) < 1e15)
      text += ".0";
    return Mismatch("number " + text, node, go_type);
  }

  bool Bytes(json::value& value, const Node& node) {
    if (!value.is_string()) return Mismatch(value, node, "");
    std::string decoded;
    const auto bad = DecodeBase64(value.get_string(), decoded);
    if (!bad) {
      // Go accepts line breaks inside base64 and writes it without them.
      if (value.get_string().find_first_of("\r\n") != json::string::npos) value = EncodeBase64(decoded);
      return true;
    }
    error_ = fmt::format("illegal base64 data at input byte {}", *bad);
    return false;
  }

  bool Quantity(json::value& value) {
    const std::string text = value.is_string() ? std::string(value.get_string()) : WriteJson(value);
    const auto quantity = meta::Quantity::Parse(text);
    if (!quantity) {
      error_ = quantity.error();
      return false;
    }
    std::string canonical = quantity->ToString();
    if (!value.is_string() || canonical != text) value = canonical;
    return true;
  }

  bool Time(json::value& value, const Node& node) {
    if (!value.is_string()) return Mismatch(value, node, "");
    const bool micro = node.type == Type::kMicroTime;
    const auto time = ParseGoTime(value.get_string(), micro);
    if (!time) {
      error_ = time.error();
      return false;
    }
    if (time->IsZero()) {
      value = nullptr;
      return true;
    }
    constexpr std::size_t kCanonical = std::string_view("2006-01-02T15:04:05Z").size();
    if (!micro && value.get_string().size() == kCanonical)
      return true;  // a valid time of this length is always canonical
    if (std::string canonical = FormatGoTime(*time, micro); canonical != std::string_view(value.get_string()))
      value = canonical;
    return true;
  }

  bool SchemaOr(json::value& value, const Node& node) {
    if (value.is_object()) return Object(value.get_object(), *node.items);
    if (node.type == Type::kSchemaOrBool && value.is_bool()) return true;
    if (node.type == Type::kSchemaOrArray && value.is_array()) {
      for (json::value& element : value.get_array()) {
        if (!element.is_object()) return Mismatch(element, *node.items, "");
        if (!Object(element.get_object(), *node.items)) return false;
      }
      return true;
    }
    if (node.type == Type::kSchemaOrStrings && value.is_array()) {
      for (const json::value& element : value.get_array()) {
        if (!element.is_string()) return Mismatch(element, kText, "");
      }
      return true;
    }
    if (node.type != Type::kSchemaOrBool)
      return value = nullptr, true;  // kube-apiserver ignores values of other types here
    error_ = "boolean or JSON schema expected";
    return false;
  }

  bool Mismatch(const json::value& value, const Node& node, std::string_view go_type) {
    return Mismatch(KindName(value), node, go_type);
  }
  bool Mismatch(std::string_view value, const Node& node, std::string_view go_type) {
    const std::string type = go_type.empty() ? GoTypeName(node) : std::string(go_type);
    error_ = trail_.empty()
                 ? fmt::format("json: cannot unmarshal {} into Go value of type {}", value, type)
                 : fmt::format("json: cannot unmarshal {} into Go struct field {} of type {}", value, Place(), type);
    return false;
  }

  inline static const Node kInt32 = [] {
    Node node;
    node.type = Type::kInteger;
    node.format = "int32";
    return node;
  }();
  inline static const Node kText = [] {
    Node node;
    node.type = Type::kString;
    return node;
  }();

  Strictness* strict_;
  const bool for_store_;
  std::vector<Strictness::Duplicate> duplicates_;
  StrictPath path_;
  boost::container::small_vector<std::pair<const Node*, const Field*>, 16>
      trail_;  // the path from the root to the current value
  std::deque<json::value> added_;
  std::size_t added_bytes_ = 0;
  std::string error_;
};

}  // namespace

meta::Result<> Normalise(json::object& document, const Node& node, Strictness* strict) {
  if (node.custom) return NormaliseCustomResource(document, node, strict);
  Normaliser normaliser(strict);
  if (!normaliser.Object(document, node)) return normaliser.TakeError();
  return {};
}

meta::Result<> NormaliseForStore(json::object& document, const Node& node) {
  if (node.custom) return NormaliseCustomResource(document, node, nullptr);
  Normaliser normaliser(nullptr, true);
  if (!normaliser.Object(document, node)) return normaliser.TakeError();
  return {};
}

meta::ApiError TooLargeToStore() { return meta::RequestEntityTooLarge("etcdserver: request is too large"); }

}  // namespace apimesh::codec
