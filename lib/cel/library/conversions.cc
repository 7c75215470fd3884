#include <charconv>
#include <cmath>

#include "lib/base/text/utf8.h"
#include "lib/cel/library/library.h"
#include "lib/cel/library/type_values.h"
#include "lib/cel/value/text.h"
#include "lib/cel/value/time.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Args = std::span<const Value>;

Value Failed(const Value& from, const char* to, Arena& arena) {
  return Errorf(arena, "type conversion error from '{}' to '{}'", TypeOfValue(from)->name, to);
}

Value Identity(Args args, Arena&) { return args[0]; }

template <typename T>
std::optional<T> ParseInteger(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-' && std::is_signed_v<T>) text.remove_prefix(1);
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return out;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x | 0x20) == y; });
}

// As Go: "inf" and "nan" in any case, hexadecimal numbers with an exponent, no overflow.
std::optional<double> ParseDouble(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (EqualsIgnoringCase(digits, "nan"))
    return digits.size() == text.size() ? std::optional(std::nan("")) : std::nullopt;
  if (EqualsIgnoringCase(digits, "inf") || EqualsIgnoringCase(digits, "infinity"))
    return negative ? -INFINITY : INFINITY;
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  if (digits.empty() || digits[0] == '-' || digits[0] == '+') return std::nullopt;
  if (hex && digits.find_first_of("pP") == std::string_view::npos) return std::nullopt;
  double out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out,
                                            hex ? std::chars_format::hex : std::chars_format::general);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument || std::isnan(out))
    return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    out = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isinf(out)) return std::nullopt;
    return out;
  }
  return negative ? -out : out;
}

Value ToInt(Args args, Arena& arena) {
  const Value& value = args[0];
  switch (value.GetKind()) {
    case Kind::kDouble:
      if (!(value.AsDouble() > -9223372036854775808.0 && value.AsDouble() < 9223372036854775808.0))
        return Value::Error("integer overflow");
      return Value::Int(static_cast<std::int64_t>(value.AsDouble()));
    case Kind::kUint: return value.AsUint() > INT64_MAX ? Value::Error("integer overflow") : Value::Int(value.AsInt());
    case Kind::kDuration:
    case Kind::kTimestamp: return Value::Int(value.AsInt());
    default:
      if (const auto out = ParseInteger<std::int64_t>(value.AsString())) return Value::Int(*out);
      return Failed(value, "int", arena);
  }
}

Value ToUint(Args args, Arena& arena) {
  const Value& value = args[0];
  switch (value.GetKind()) {
    case Kind::kDouble:
      if (!(value.AsDouble() >= 0 && value.AsDouble() < 18446744073709551616.0))
        return Value::Error("unsigned integer overflow");
      return Value::Uint(static_cast<std::uint64_t>(value.AsDouble()));
    case Kind::kInt: return value.AsInt() < 0 ? Value::Error("unsigned integer overflow") : Value::Uint(value.AsUint());
    default:
      if (const auto out = ParseInteger<std::uint64_t>(value.AsString())) return Value::Uint(*out);
      return Failed(value, "uint", arena);
  }
}

Value ToDouble(Args args, Arena& arena) {
  const Value& value = args[0];
  if (value.Is(Kind::kInt)) return Value::Double(static_cast<double>(value.AsInt()));
  if (value.Is(Kind::kUint)) return Value::Double(static_cast<double>(value.AsUint()));
  if (const auto out = ParseDouble(value.AsString())) return Value::Double(*out);
  return Failed(value, "double", arena);
}

Value ToString(Args args, Arena& arena) {
  const Value& value = args[0];
  switch (value.GetKind()) {
    case Kind::kBytes:
      if (!IsValidUtf8(value.AsString())) return Value::Error("invalid UTF-8 in bytes, cannot convert to string");
      return Value::String(value.AsString());
    case Kind::kTimestamp: return Value::String(arena.Copy(TimestampToText(value)));
    case Kind::kDuration: return Value::String(arena.Copy(DurationToText(value.AsInt())));
    default: return Value::String(arena.Copy(ToMessage(value, arena)));
  }
}

Value ToBool(Args args, Arena& arena) {
  for (const std::string_view text : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (args[0].AsString() == text) return Value::Bool(true);
  }
  for (const std::string_view text : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (args[0].AsString() == text) return Value::Bool(false);
  }
  return Failed(args[0], "bool", arena);
}

Value ToTimestamp(Args args, Arena& arena) {
  if (args[0].Is(Kind::kInt)) {
    if (args[0].AsInt() < kMinUnixTime || args[0].AsInt() > kMaxUnixTime) return Value::Error("timestamp overflow");
    return Value::Timestamp(args[0].AsInt(), 0);
  }
  const auto out = ParseTimestamp(args[0].AsString());
  if (!out) return Failed(args[0], "google.protobuf.Timestamp", arena);
  if (out->AsInt() < kMinUnixTime || out->AsInt() > kMaxUnixTime) return Value::Error("timestamp overflow");
  return *out;
}

Value ToDuration(Args args, Arena& arena) {
  if (args[0].Is(Kind::kString)) {
    if (const auto out = ParseDuration(args[0].AsString())) return Value::Duration(*out);
  }
  return Failed(args[0], "google.protobuf.Duration", arena);
}

}  // namespace

void AddConversions(Declarations& out) {
  const TypeRef &b = Type::Bool(), &y = Type::Bytes(), &d = Type::Double(), &n = Type::Duration(), &i = Type::Int(),
                &s = Type::String(), &t = Type::Timestamp(), &u = Type::Uint(), a = Type::Parameter("A");
  const auto add = [&](const char* function, const char* id, const TypeRef& from, const TypeRef& to, Body body) {
    out.Add(function, {id, false, {from}, to, body});
  };
  add("type", "type", a, Type::TypeOf(a), nullptr);
  out.functions["type"].body = [](Args args, Arena&) { return Value::OfType(TypeOfValue(args[0])); };
  add("dyn", "to_dyn", a, Type::Dyn(), nullptr);
  out.functions["dyn"].body = Identity;
  add("bool", "bool_to_bool", b, b, Identity);
  add("bool", "string_to_bool", s, b, ToBool);
  add("bytes", "bytes_to_bytes", y, y, Identity);
  add("bytes", "string_to_bytes", s, y, [](Args args, Arena&) { return Value::Bytes(args[0].AsString()); });
  add("double", "double_to_double", d, d, Identity);
  add("double", "int64_to_double", i, d, ToDouble);
  add("double", "string_to_double", s, d, ToDouble);
  add("double", "uint64_to_double", u, d, ToDouble);
  add("duration", "duration_to_duration", n, n, Identity);
  add("duration", "int64_to_duration", i, n, ToDuration);
  add("duration", "string_to_duration", s, n, ToDuration);
  add("int", "int64_to_int64", i, i, Identity);
  add("int", "double_to_int64", d, i, ToInt);
  add("int", "duration_to_int64", n, i, ToInt);
  add("int", "string_to_int64", s, i, ToInt);
  add("int", "timestamp_to_int64", t, i, ToInt);
  add("int", "uint64_to_int64", u, i, ToInt);
  add("string", "string_to_string", s, s, Identity);
  add("string", "bool_to_string", b, s, ToString);
  add("string", "bytes_to_string", y, s, ToString);
  add("string", "double_to_string", d, s, ToString);
  add("string", "duration_to_string", n, s, ToString);
  add("string", "int64_to_string", i, s, ToString);
  add("string", "timestamp_to_string", t, s, ToString);
  add("string", "uint64_to_string", u, s, ToString);
  add("timestamp", "timestamp_to_timestamp", t, t, Identity);
  add("timestamp", "int64_to_timestamp", i, t, ToTimestamp);
  add("timestamp", "string_to_timestamp", s, t, ToTimestamp);
  add("uint", "uint64_to_uint64", u, u, Identity);
  add("uint", "double_to_uint64", d, u, ToUint);
  add("uint", "int64_to_uint64", i, u, ToUint);
  add("uint", "string_to_uint64", s, u, ToUint);
  for (const TypeRef& type : {b, y, d, n, i, s, t, u, Type::Null(), Type::AnyType()}) out.types[type->name] = type;
  out.types["list"] = Type::List(a);
  out.types["map"] = Type::Map(a, Type::Parameter("B"));
}

}  // namespace apimesh::cel
