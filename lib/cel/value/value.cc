#include "lib/cel/value/value.h"

#include <cmath>

#include "lib/base/text/base64.h"
#include "lib/cel/types/shape.h"
#include "lib/cel/value/time.h"

namespace apimesh::cel {

using Kind = Value::Kind;

Value Value::Double(double value) {
  Value out;
  out.kind_ = Kind::kDouble;
  out.d_ = value;
  return out;
}

Value Value::List(Arena& arena, std::span<const Value> items) {
  Value* copy = arena.NewArray<Value>(items.size());
  std::copy(items.begin(), items.end(), copy);
  return List(arena.New<ListData>(ListData{copy, items.size(), items.size()}));
}

Value Value::Timestamp(std::int64_t seconds, std::int32_t nanos, std::int32_t offset) {
  Value out = Make(Kind::kTimestamp, seconds);
  out.size_ = static_cast<std::uint32_t>(nanos) | static_cast<std::uint64_t>(static_cast<std::uint32_t>(offset)) << 32;
  return out;
}

Value NoSuchOverload() { return Value::Error("no such overload"); }

namespace {

const char* GoTypeName(const boost::json::value& json) {
  switch (json.kind()) {
    case boost::json::kind::bool_: return "bool";
    case boost::json::kind::int64:
    case boost::json::kind::uint64: return "int64";
    case boost::json::kind::double_: return "float64";
    case boost::json::kind::string: return "string";
    case boost::json::kind::array: return "[]interface {}";
    case boost::json::kind::object: return "map[string]interface {}";
    default: return "<nil>";
  }
}

Value Unexpected(const boost::json::value& json, std::string_view wanted, Arena& arena) {
  return Errorf(arena, "invalid data, expected {}, got {}", wanted, GoTypeName(json));
}

Value TextThroughShape(std::string_view text, const Shape& shape, Arena& arena) {
  switch (shape.kind) {
    case Shape::Kind::kTimestamp:
      if (const auto value = ParseTimestamp(text)) return *value;
      return Errorf(arena, "Invalid date-time formatted string {}: not a date and time", text);
    case Shape::Kind::kDate:
      if (const auto value = ParseDate(text)) return *value;
      return Errorf(arena, "Invalid date formatted string {}: not a date", text);
    case Shape::Kind::kDuration:
      if (const auto value = ParseDuration(text)) return Value::Duration(*value);
      return Errorf(arena, "Invalid duration {}: not a duration", text);
    case Shape::Kind::kBytes:
      if (std::string bytes; !DecodeBase64(text, bytes)) return Value::Bytes(arena.Copy(bytes));
      return Errorf(arena, "Invalid byte formatted string {}: not base64", text);
    default: return Value::String(text);
  }
}

}  // namespace

Value Value::FromJson(const boost::json::value& json, const Shape* shape, Arena& arena) {
  const Shape::Kind wanted = shape ? shape->kind : Shape::Kind::kDynamic;
  if (json.is_null() && wanted != Shape::Kind::kDynamic && wanted != Shape::Kind::kHidden) {
    return shape->nullable ? Value() : Error("invalid data, got null for schema with nullable=false");
  }
  switch (wanted) {
    case Shape::Kind::kDynamic:
    case Shape::Kind::kHidden: break;
    case Shape::Kind::kIntOrString:
      if (json.is_string() || json.is_int64() || json.is_uint64()) break;
      return Error("invalid data, expected XIntOrString value to be either a string or integer");
    case Shape::Kind::kObject:
    case Shape::Kind::kMap:
      if (!json.is_object()) return Error("invalid data, expected a map for the provided schema with type=object");
      return Pointer(Kind::kJsonMap, &json.get_object(), shape);
    case Shape::Kind::kList:
      if (!json.is_array()) return Error("invalid data, expected an array for the provided schema with type=array");
      return Pointer(Kind::kJsonList, &json.get_array(), shape);
    case Shape::Kind::kInt:
      if (!json.is_int64() && !json.is_uint64()) return Unexpected(json, "int", arena);
      break;
    case Shape::Kind::kDouble:
      if (!json.is_number()) return Unexpected(json, "float", arena);
      return Double(json.to_number<double>());
    case Shape::Kind::kBool:
      if (!json.is_bool()) return Unexpected(json, "bool", arena);
      break;
    default:
      if (!json.is_string()) return Unexpected(json, "string", arena);
      return TextThroughShape(json.get_string(), *shape, arena);
  }
  switch (json.kind()) {
    case boost::json::kind::bool_: return Bool(json.get_bool());
    case boost::json::kind::int64: return Int(json.get_int64());
    case boost::json::kind::uint64:
      // A number that no int can hold is a double, as in kube-apiserver.
      return json.get_uint64() <= INT64_MAX ? Int(static_cast<std::int64_t>(json.get_uint64()))
                                            : Double(static_cast<double>(json.get_uint64()));
    case boost::json::kind::double_: return Double(json.get_double());
    case boost::json::kind::string: return String(json.get_string());
    case boost::json::kind::array: return Pointer(Kind::kJsonList, &json.get_array());
    case boost::json::kind::object: return Pointer(Kind::kJsonMap, &json.get_object());
    default: return Value();
  }
}

}  // namespace apimesh::cel
