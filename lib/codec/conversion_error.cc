#include "lib/codec/conversion_error.h"

#include <cmath>

#include <fmt/format.h>

namespace apimesh::codec {
namespace {

namespace json = meta::json;
using schema::Node;
using schema::Type;

/// The kind of Go's type for a value of a decoded document.
std::string_view GoKind(const json::value& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_double()) return "float64";
  if (value.is_number()) return "int64";
  return value.is_array() ? "slice" : "map";
}

std::string Scalar(const json::value& value, std::string_view kind, std::string_view go_type) {
  const std::string_view from = GoKind(value);
  const std::string_view type = go_type.empty() ? kind : go_type;
  const bool to_integer = kind == "int32" || kind == "int64", to_number = to_integer || kind == "float64";
  if (from == kind || (from == "int64" && to_number)) return "";
  // Go can convert integers to texts and floats to integers, but JSON does not allow that.
  const bool convertible = (from == "int64" && kind == "string") || (from == "float64" && to_integer);
  if (!convertible) return fmt::format("unrecognized type: {}", kind);
  if (to_integer && value.get_double() == std::trunc(value.get_double())) return "";
  return fmt::format("cannot convert {} to {}", from, type);
}

std::string Find(const json::value& value, const Node& node, std::string_view go_type);

std::string FindInObject(const json::object& object, const Node& node) {
  for (const schema::Field& field : node.fields) {
    const json::value* value = meta::FindField(object, field.name);
    if (!value || value->is_null()) continue;
    if (std::string error = Find(*value, *field.schema, field.go_type); !error.empty()) return error;
  }
  return "";
}

std::string Find(const json::value& value, const Node& node, std::string_view go_type) {
  if (value.is_null()) return "";
  switch (node.type) {
    case Type::kObject:
      if (!value.is_object()) return fmt::format("cannot restore struct from: {}", GoKind(value));
      return FindInObject(value.get_object(), node);
    case Type::kList:
      if (!value.is_array()) return fmt::format("cannot restore slice from {}", GoKind(value));
      for (const json::value& item : value.get_array()) {
        if (std::string error = Find(item, *node.items, ""); !error.empty()) return error;
      }
      return "";
    case Type::kMap:
      if (!value.is_object()) return fmt::format("cannot restore map from {}", GoKind(value));
      for (const auto& member : value.get_object()) {
        if (std::string error = Find(member.value(), *node.items, ""); !error.empty()) return error;
      }
      return "";
    case Type::kString: return Scalar(value, "string", go_type);
    case Type::kInteger: return Scalar(value, node.format == "int32" ? "int32" : "int64", go_type);
    case Type::kNumber: return Scalar(value, "float64", go_type);
    case Type::kBoolean: return Scalar(value, "bool", go_type);
    case Type::kBytes:
      if (value.is_string() || value.is_array()) return "";
      return fmt::format("cannot restore slice from {}", GoKind(value));
    default: return "";
  }
}

}  // namespace

std::string ConversionError(const json::object& document, const Node& node) { return FindInObject(document, node); }

}  // namespace apimesh::codec
