#include "lib/admission/plugins/mutating_admission_policy/patch_values.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/text/base64.h"
#include "lib/cel/library/type_values.h"
#include "lib/cel/types/type.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/time.h"

namespace apimesh::admission::mutating_policy {
namespace {

namespace json = meta::json;
using cel::Value;
using Kind = Value::Kind;

/// Converts values to JSON. The first value that JSON cannot represent is recorded in `error`.
class Converter {
 public:
  explicit Converter(cel::Arena& arena) : arena_(arena) {}

  json::value Convert(const Value& value) {
    switch (value.GetKind()) {
      case Kind::kNull: return nullptr;
      case Kind::kBool: return value.AsBool();
      case Kind::kInt: return value.AsInt();
      case Kind::kUint: return value.AsUint();
      case Kind::kDouble: return Number(value.AsDouble());
      case Kind::kString: return json::value(value.AsString());
      case Kind::kBytes: return json::value(EncodeBase64(value.AsString()));
      case Kind::kTimestamp: return json::value(cel::TimestampToText(value));
      case Kind::kDuration: return json::value(cel::DurationToText(value.AsInt()));
      case Kind::kList:
      case Kind::kJsonList: return List(value);
      case Kind::kMap:
      case Kind::kJsonMap: return Map(value);
      case Kind::kObject: return Map(Value::Map(value.AsMapData()));
      default:
        Fail(fmt::format("type conversion error from '{}' to JSON", cel::TypeOfValue(value)->name));
        return nullptr;
    }
  }
  json::object Map(const Value& map) {
    json::object out;
    cel::ForEachEntry(map, arena_, [&](const Value& key, const Value& value) {
      if (!key.Is(Kind::kString)) {
        Fail(fmt::format("map key of type {} is not a string", cel::TypeOfValue(key)->name));
      } else {
        out.emplace(key.AsString(), Convert(value));
      }
      return error.empty();
    });
    return out;
  }

  std::string error;

 private:
  void Fail(std::string text) {
    if (error.empty()) error = std::move(text);
  }
  // JSON does not distinguish 3.0 from 3.
  static json::value Number(double number) {
    if (std::trunc(number) == number && std::abs(number) < 9e15) return static_cast<std::int64_t>(number);
    return number;
  }
  json::array List(const Value& list) {
    json::array out;
    for (std::size_t i = 0; i < cel::ListSize(list) && error.empty(); ++i)
      out.push_back(Convert(cel::ListAt(list, i, arena_)));
    return out;
  }

  cel::Arena& arena_;
};

// The names of the types of nested objects must match the fields that they are assigned to.
void CheckTypeNames(const Value& value, const std::string& path, cel::Arena& arena, std::vector<std::string>& errors) {
  if (value.Is(Kind::kObject)) {
    const std::string& name = value.ObjectType()->name;
    if (name != path) {
      errors.push_back(fmt::format(
          "unexpected type name \"{}\", expected \"{}\", which matches field name path from root Object type", name,
          path));
    }
    const cel::MapData& fields = *value.AsMapData();
    for (std::size_t i = 0; i < fields.size; ++i) {
      CheckTypeNames(fields.entries[i].value, fmt::format("{}.{}", path, fields.entries[i].key.AsString()), arena,
                     errors);
    }
  } else if (value.Is(Kind::kList)) {
    for (std::size_t i = 0; i < cel::ListSize(value); ++i)
      CheckTypeNames(cel::ListAt(value, i, arena), path, arena, errors);
  } else if (value.Is(Kind::kMap)) {
    cel::ForEachEntry(value, arena, [&](const Value&, const Value& entry) {
      CheckTypeNames(entry, path, arena, errors);
      return true;
    });
  }
}

std::string TypeMismatch(const Value& object, cel::Arena& arena) {
  std::vector<std::string> errors;
  CheckTypeNames(object, object.ObjectType()->name, arena, errors);
  return errors.empty() ? "" : fmt::format("type mismatch: {}", fmt::join(errors, "\n"));
}

std::optional<Value> Field(const Value& object, std::string_view name, cel::Arena& arena) {
  return cel::MapFind(Value::Map(object.AsMapData()), Value::String(name), arena);
}

// Sets a text of an operation. Returns an error if the field is no text.
std::string SetText(json::object& operation, const Value& patch, std::string_view name, cel::Arena& arena) {
  const std::optional<Value> value = Field(patch, name, arena);
  if (value && !value->Is(Kind::kString))
    return fmt::format("unexpected type {} for JSONPatchType '{}' field", cel::TypeOfValue(*value)->name, name);
  const std::string_view text = value ? value->AsString() : "";
  if (name != "from" || !text.empty()) operation.emplace(name, text);
  return "";
}

std::string ToOperation(const Value& patch, cel::Arena& arena, json::object& operation) {
  if (!patch.Is(Kind::kObject)) {
    return fmt::format(
        "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of {}",
        cel::TypeOfValue(patch)->name);
  }
  for (const char* name : {"op", "path", "from"}) {
    std::string error = SetText(operation, patch, name, arena);
    if (!error.empty()) return error;
  }
  const std::optional<Value> value = Field(patch, "value", arena);
  if (!value) return "";
  if (value->Is(Kind::kObject)) {
    std::string mismatch = TypeMismatch(*value, arena);
    if (!mismatch.empty()) return mismatch;
  }
  Converter converter(arena);
  operation.emplace("value", converter.Convert(*value));
  if (converter.error.empty()) return "";
  return "JSONPath valueExpression evaluated to a type that could not marshal to JSON: " + converter.error;
}

}  // namespace

Converted<json::array> ToJsonPatch(const Value& list, cel::Arena& arena) {
  Converted<json::array> out;
  if (!list.IsList()) {
    out.error = "type mismatch: JSONPatchType.expression should evaluate to array";
    return out;
  }
  for (std::size_t i = 0; i < cel::ListSize(list) && out.error.empty(); ++i) {
    json::object operation;
    out.error = ToOperation(cel::ListAt(list, i, arena), arena, operation);
    out.value.push_back(std::move(operation));
  }
  return out;
}

Converted<json::object> ToApplyConfiguration(const Value& object, cel::Arena& arena) {
  Converted<json::object> out;
  if (!object.Is(Kind::kObject)) {
    out.error =
        fmt::format("unsupported return type from ApplyConfiguration expression: {}", cel::TypeOfValue(object)->name);
    return out;
  }
  out.error = TypeMismatch(object, arena);
  if (!out.error.empty()) return out;
  Converter converter(arena);
  out.value = converter.Map(Value::Map(object.AsMapData()));
  if (!converter.error.empty()) out.error = "invalid return type: " + converter.error;
  return out;
}

}  // namespace apimesh::admission::mutating_policy
