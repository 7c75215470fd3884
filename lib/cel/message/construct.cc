#include "lib/cel/message/construct.h"

#include "lib/cel/library/type_values.h"
#include "lib/cel/message/native.h"
#include "lib/cel/value/collections.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Fields = std::span<const std::pair<const MessageField*, Value>>;

constexpr std::int64_t kSecond = 1'000'000'000;

Value WrongField(const Message& message, const MessageField& field, const Value& error, Arena& arena) {
  return Errorf(arena, "field type conversion error for {}.{} value type: {}", message.name, field.name,
                error.AsString());
}

Value ConvertField(const Message& message, const MessageField& field, const Value& value, Arena& arena) {
  const bool list = field.native == "list", map = field.native == "map";
  if ((list && !value.IsList()) || (map && !value.IsMap())) {
    return Errorf(arena, "unsupported field type for {}.{}: {}", message.name, field.name,
                  TypeOfValue(value)->ToDeclaration());
  }
  const Value converted = list  ? ToProtobufList(value, arena)
                          : map ? ToProtobufStruct(value, arena)
                                : ToNative(value, field.native, arena);
  return converted.IsError() ? WrongField(message, field, converted, arena) : converted;
}

Value DefaultOf(const MessageField& field, Arena& arena) {
  switch (field.type->kind) {
    case Type::Kind::kBool: return Value::Bool(false);
    case Type::Kind::kInt: return Value::Int(0);
    case Type::Kind::kUint: return Value::Uint(0);
    case Type::Kind::kDouble: return Value::Double(0);
    case Type::Kind::kString: return Value::String("");
    case Type::Kind::kBytes: return Value::Bytes("");
    case Type::Kind::kList: return ListBuilder(arena).Build();
    default: return MapBuilder(arena).Build();
  }
}

Value Duration(std::int64_t seconds, std::int64_t nanos) {
  std::int64_t out = 0;
  const bool overflow = __builtin_mul_overflow(seconds, kSecond, &out) || __builtin_add_overflow(out, nanos, &out);
  if (!overflow) return Value::Duration(out);
  return Value::Duration(seconds < 0 ? INT64_MIN : INT64_MAX);
}

Value Timestamp(std::int64_t seconds, std::int64_t nanos) {
  std::int64_t whole = nanos / kSecond, rest = nanos % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --whole;
  }
  // Times far beyond the year 9999 wrap around, as they do in Go.
  const auto sum = static_cast<std::uint64_t>(seconds) + static_cast<std::uint64_t>(whole);
  return Value::Timestamp(static_cast<std::int64_t>(sum), static_cast<std::int32_t>(rest));
}

Value Any(std::string_view type_url, std::string_view bytes, Arena& arena) {
  if (!type_url.empty()) {
    if (const auto value = Unpack(type_url, bytes, arena)) return *value;
  }
  std::string shown;
  if (!type_url.empty()) shown = "type_url:" + meta::Quoted(type_url);
  if (!bytes.empty()) shown += (shown.empty() ? "" : " ") + ("value:" + meta::Quoted(bytes));
  return Errorf(arena, "unsupported conversion to ref.Val: (*dynamicpb.Message){}", shown);
}

}  // namespace

Value Construct(const Message& message, Fields fields, Arena& arena) {
  Value last;  // of a google.protobuf.Value, whose fields exclude each other
  std::vector<Value> values;
  for (const MessageField& field : message.fields) values.push_back(DefaultOf(field, arena));
  for (const auto& [field, value] : fields) {
    const Value converted = ConvertField(message, *field, value, arena);
    if (converted.IsError()) return converted;
    values[static_cast<std::size_t>(field - message.fields.data())] = converted;
    last = field->name == "null_value" ? Value() : converted;
  }
  if (message.fields.empty()) return Value::Object(MapBuilder(arena).Data(), message.type.get());
  if (message.type->Is(Type::Kind::kTimestamp)) return Timestamp(values[0].AsInt(), values[1].AsInt());
  if (message.type->Is(Type::Kind::kDuration)) return Duration(values[0].AsInt(), values[1].AsInt());
  if (message.type->Is(Type::Kind::kAny)) return Any(values[0].AsString(), values[1].AsString(), arena);
  return message.type->Is(Type::Kind::kDyn) ? last : values[0];
}

}  // namespace apimesh::cel
