#include "lib/cel/message/native.h"

#include <cctype>
#include <limits>

#include "lib/base/text/base64.h"
#include "lib/cel/library/type_values.h"
#include "lib/cel/types/type.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/text.h"
#include "lib/cel/value/time.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;

constexpr std::int64_t kMaxExact = (std::int64_t{1} << 53) - 1;  // a double holds every integer up to here

Value Unsupported(const Value& value, std::string_view native, Arena& arena) {
  const auto from = [&](std::string_view source) {
    return Errorf(arena, "type conversion error from {} to '{}'", source, native);
  };
  switch (value.GetKind()) {
    case Kind::kNull: return from("'null_type'");
    case Kind::kBool: return from("bool");
    case Kind::kInt: return Errorf(arena, "unsupported type conversion from 'int' to {}", native);
    case Kind::kUint: return Errorf(arena, "unsupported type conversion from 'uint' to {}", native);
    case Kind::kDouble: return from("Double");
    case Kind::kString: return Errorf(arena, "unsupported native conversion from string to '{}'", native);
    case Kind::kBytes: return from("Bytes");
    case Kind::kList: return from("list");
    case Kind::kJsonList: return from(value.GetShape() ? "'list(dyn)'" : "list");
    case Kind::kMap:
    case Kind::kDynamicMap: return from("map");
    case Kind::kJsonMap: return from(value.GetShape() ? "'map(dyn, dyn)'" : "map");
    case Kind::kTimestamp: return from("'Timestamp'");
    case Kind::kDuration: return from("'Duration'");
    case Kind::kType: return Value::Error("type conversion not supported for 'type'");
    case Kind::kOpaque: {
      const std::string_view name = value.AsOpaque().TypeName();
      return from(fmt::format("'{}'", name.substr(name.rfind('.') + 1)));
    }
    default: return from("'*dynamicpb.Message'");
  }
}

Value ToBytes(const Value& list, Arena& arena) {
  std::string bytes;
  for (std::size_t i = 0; i < ListSize(list); ++i) {
    const Value item = ListAt(list, i, arena);
    if (item.IsError()) return item;
    if (!item.Is(Kind::kUint)) return Unsupported(item, "uint8", arena);
    if (item.AsUint() > 255) return Value::Error("unsigned integer overflow");
    bytes += static_cast<char>(item.AsUint());
  }
  return Value::Bytes(arena.Copy(bytes));
}

/// Schema lists and maps are not converted as a whole.
bool IsConvertible(const Value& value) {
  return !(value.Is(Kind::kJsonList) || value.Is(Kind::kJsonMap)) || !value.GetShape();
}

Value ToStruct(const Value& value, std::string_view native, Arena& arena) {
  if (value.IsMap() && IsConvertible(value)) return ToProtobufStruct(value, arena);
  if (value.Is(Kind::kObject)) {
    return Errorf(arena,
                  "type conversion error: pb.Merge() arguments must be the same type. got: google.protobuf.Struct, {}",
                  value.ObjectType()->name);
  }
  return Unsupported(value, native, arena);
}

Value ToListValue(const Value& value, std::string_view native, Arena& arena) {
  if (value.IsList() && IsConvertible(value)) return ToProtobufList(value, arena);
  if (value.Is(Kind::kObject)) {
    return Errorf(
        arena, "type conversion error: pb.Merge() arguments must be the same type. got: google.protobuf.ListValue, {}",
        value.ObjectType()->name);
  }
  if (!value.IsMap() || !IsConvertible(value)) return Unsupported(value, native, arena);
  std::string first;
  ForEachEntry(value, arena, [&](const Value& key, const Value&) {
    first = ToMessage(key, arena);
    return false;
  });
  if (first.empty()) return ListBuilder(arena).Build();
  first[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(first[0])));
  return Errorf(arena, "type conversion error, no such field '{}' in type 'structpb.ListValue'", first);
}

template <typename Int>
bool IsWithin(std::int64_t value) {
  return value >= std::numeric_limits<Int>::min() && value <= std::numeric_limits<Int>::max();
}

}  // namespace

Value ToNative(const Value& value, std::string_view native, Arena& arena) {
  if (value.IsError()) return value;
  if (value.Is(Kind::kOptional)) {
    if (!value.AsOptional()) return Value::Error("optional.none() dereference");
    return ToNative(*value.AsOptional(), native, arena);
  }
  if (native == "*structpb.Struct") return ToStruct(value, native, arena);
  if (native == "*structpb.ListValue") return ToListValue(value, native, arena);
  const Kind kind = value.GetKind();
  if (native == "bool" && kind == Kind::kBool) return value;
  if (native == "int64" && kind == Kind::kInt) return value;
  if (native == "uint64" && kind == Kind::kUint) return value;
  if (native == "float64" && kind == Kind::kDouble) return value;
  if (native == "string" && kind == Kind::kString) return value;
  if (native == "[]uint8" && kind == Kind::kBytes) return value;
  if (native == "[]uint8" && value.IsList() && IsConvertible(value)) return ToBytes(value, arena);
  if ((native == "int32" || native == "protoreflect.EnumNumber") && kind == Kind::kInt)
    return IsWithin<std::int32_t>(value.AsInt()) ? value : Value::Error("integer overflow");
  if (native == "uint32" && kind == Kind::kUint) {
    const bool fits = value.AsUint() <= std::numeric_limits<std::uint32_t>::max();
    return fits ? value : Value::Error("unsigned integer overflow");
  }
  if (native == "float32" && kind == Kind::kDouble) return Value::Double(static_cast<float>(value.AsDouble()));
  if (native == "string" && kind == Kind::kOpaque && !value.AsOpaque().Constructor().empty())
    return Value::String(arena.Copy(value.AsOpaque().ToString()));
  return Unsupported(value, native, arena);
}

Value ToProtobufValue(const Value& value, Arena& arena) {
  constexpr std::string_view kNative = "*structpb.Value";
  switch (value.GetKind()) {
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kDouble:
    case Kind::kString:
    case Kind::kError: return value;
    case Kind::kInt:
      if (value.AsInt() >= -kMaxExact && value.AsInt() <= kMaxExact)
        return Value::Double(static_cast<double>(value.AsInt()));
      return Value::String(arena.Copy(ToMessage(value, arena)));
    case Kind::kUint:
      if (value.AsUint() <= static_cast<std::uint64_t>(kMaxExact))
        return Value::Double(static_cast<double>(value.AsUint()));
      return Value::String(arena.Copy(ToMessage(value, arena)));
    case Kind::kBytes: return Value::String(arena.Copy(EncodeBase64(value.AsString())));
    case Kind::kTimestamp: return Value::String(arena.Copy(TimestampToText(value)));
    case Kind::kDuration: return Value::String(arena.Copy(DurationToText(value.AsInt())));
    case Kind::kOptional:
      if (!value.AsOptional()) return Value::Error("optional.none() dereference");
      return ToProtobufValue(*value.AsOptional(), arena);
    case Kind::kList:
    case Kind::kJsonList:
      return IsConvertible(value) ? ToProtobufList(value, arena) : Unsupported(value, kNative, arena);
    case Kind::kMap:
    case Kind::kDynamicMap:
    case Kind::kJsonMap:
      return IsConvertible(value) ? ToProtobufStruct(value, arena) : Unsupported(value, kNative, arena);
    case Kind::kObject:
      if (value.ObjectType()->name == "google.protobuf.Empty") return MapBuilder(arena).Build();
      return Unsupported(value, kNative, arena);
    default: return Unsupported(value, kNative, arena);
  }
}

Value ToProtobufStruct(const Value& map, Arena& arena) {
  MapBuilder out(arena, MapSize(map));
  Value error;
  ForEachEntry(map, arena, [&](const Value& key, const Value& value) {
    const Value name = ToNative(key, "string", arena);
    const Value converted = ToProtobufValue(value, arena);
    if (name.IsError() || converted.IsError()) {
      error = name.IsError() ? name : converted;
      return false;
    }
    out.Set(name, converted);
    return true;
  });
  return error.IsError() ? error : out.Build();
}

Value ToProtobufList(const Value& list, Arena& arena) {
  ListBuilder out(arena, ListSize(list));
  for (std::size_t i = 0; i < ListSize(list); ++i) {
    const Value item = ToProtobufValue(ListAt(list, i, arena), arena);
    if (item.IsError()) return item;
    out.Add(item);
  }
  return out.Build();
}

}  // namespace apimesh::cel
