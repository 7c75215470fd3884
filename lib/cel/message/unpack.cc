#include <google/protobuf/duration.pb.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/wrappers.pb.h>

#include "lib/cel/message/construct.h"
#include "lib/cel/value/collections.h"

namespace apimesh::cel {
namespace {

namespace pb = google::protobuf;

Value Text(const std::string& text, Arena& arena) { return Value::String(arena.Copy(text)); }

Value Of(const pb::Struct& map, Arena& arena);
Value Of(const pb::ListValue& list, Arena& arena);

Value Of(const pb::Value& value, Arena& arena) {
  switch (value.kind_case()) {
    case pb::Value::kNumberValue: return Value::Double(value.number_value());
    case pb::Value::kStringValue: return Text(value.string_value(), arena);
    case pb::Value::kBoolValue: return Value::Bool(value.bool_value());
    case pb::Value::kStructValue: return Of(value.struct_value(), arena);
    case pb::Value::kListValue: return Of(value.list_value(), arena);
    default: return {};
  }
}

Value Of(const pb::Struct& map, Arena& arena) {
  MapBuilder out(arena, static_cast<std::size_t>(map.fields_size()));
  for (const auto& [key, value] : map.fields()) out.Set(Text(key, arena), Of(value, arena));
  return out.Build();
}

Value Of(const pb::ListValue& list, Arena& arena) {
  ListBuilder out(arena, static_cast<std::size_t>(list.values_size()));
  for (const pb::Value& value : list.values()) out.Add(Of(value, arena));
  return out.Build();
}

Value Time(const Message& message, std::int64_t seconds, std::int32_t nanos, Arena& arena) {
  const std::pair<const MessageField*, Value> fields[] = {{message.FindField("seconds"), Value::Int(seconds)},
                                                          {message.FindField("nanos"), Value::Int(nanos)}};
  return Construct(message, fields, arena);
}

template <typename T, typename Make>
std::optional<Value> Parse(std::string_view bytes, const Make& make) {
  T message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  return make(message);
}

}  // namespace

std::optional<Value> Unpack(std::string_view type_url, std::string_view bytes, Arena& arena) {
  const std::string_view name = type_url.substr(type_url.rfind('/') + 1);
  const Message* message = FindMessage(name);
  if (!message || bytes.size() > INT32_MAX) return std::nullopt;
  const std::string_view type = name.substr(name.rfind('.') + 1);
  if (type == "BoolValue") return Parse<pb::BoolValue>(bytes, [](auto& m) { return Value::Bool(m.value()); });
  if (type == "Int32Value") return Parse<pb::Int32Value>(bytes, [](auto& m) { return Value::Int(m.value()); });
  if (type == "Int64Value") return Parse<pb::Int64Value>(bytes, [](auto& m) { return Value::Int(m.value()); });
  if (type == "UInt32Value") return Parse<pb::UInt32Value>(bytes, [](auto& m) { return Value::Uint(m.value()); });
  if (type == "UInt64Value") return Parse<pb::UInt64Value>(bytes, [](auto& m) { return Value::Uint(m.value()); });
  if (type == "FloatValue") return Parse<pb::FloatValue>(bytes, [](auto& m) { return Value::Double(m.value()); });
  if (type == "DoubleValue") return Parse<pb::DoubleValue>(bytes, [](auto& m) { return Value::Double(m.value()); });
  if (type == "StringValue") return Parse<pb::StringValue>(bytes, [&](auto& m) { return Text(m.value(), arena); });
  if (type == "BytesValue")
    return Parse<pb::BytesValue>(bytes, [&](auto& m) { return Value::Bytes(arena.Copy(m.value())); });
  if (type == "Timestamp")
    return Parse<pb::Timestamp>(bytes, [&](auto& m) { return Time(*message, m.seconds(), m.nanos(), arena); });
  if (type == "Duration")
    return Parse<pb::Duration>(bytes, [&](auto& m) { return Time(*message, m.seconds(), m.nanos(), arena); });
  if (type == "Struct") return Parse<pb::Struct>(bytes, [&](auto& m) { return Of(m, arena); });
  if (type == "ListValue") return Parse<pb::ListValue>(bytes, [&](auto& m) { return Of(m, arena); });
  if (type == "Value") return Parse<pb::Value>(bytes, [&](auto& m) { return Of(m, arena); });
  if (type == "Empty") return Construct(*message, {}, arena);
  return std::nullopt;  // Any
}

}  // namespace apimesh::cel
