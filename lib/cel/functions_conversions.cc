#include <charconv>
#include <cmath>

#include "lib/cel/functions.h"
#include "lib/cel/time_text.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Arguments = std::span<const Value>;

template <class T>
std::optional<T> Number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Value ToInt(Arguments a) {
  const Value& v = a[0];
  switch (v.GetKind()) {
    case Kind::kInt:
      return v;
    case Kind::kUint:
      return v.AsUint() > INT64_MAX ? Value::Error("integer overflow")
                                    : Value::Int(static_cast<std::int64_t>(v.AsUint()));
    case Kind::kDouble:
      if (!(v.AsDouble() > -9223372036854775808.0 && v.AsDouble() < 9223372036854775808.0))
        return Value::Error("integer overflow");
      return Value::Int(static_cast<std::int64_t>(v.AsDouble()));
    case Kind::kTimestamp:
      return Value::Int(v.AsInt() / 1'000'000'000);
    case Kind::kString: {
      const auto number = Number<std::int64_t>(v.AsString());
      return number ? Value::Int(*number) : Value::Error("type conversion error from 'string' to 'int'");
    }
    default:
      return NoOverload();
  }
}

Value ToUint(Arguments a) {
  const Value& v = a[0];
  switch (v.GetKind()) {
    case Kind::kUint:
      return v;
    case Kind::kInt:
      return v.AsInt() < 0 ? Value::Error("unsigned integer overflow")
                           : Value::Uint(static_cast<std::uint64_t>(v.AsInt()));
    case Kind::kDouble:
      if (!(v.AsDouble() >= 0 && v.AsDouble() < 18446744073709551616.0))
        return Value::Error("unsigned integer overflow");
      return Value::Uint(static_cast<std::uint64_t>(v.AsDouble()));
    case Kind::kString: {
      const auto number = Number<std::uint64_t>(v.AsString());
      return number ? Value::Uint(*number) : Value::Error("type conversion error from 'string' to 'uint'");
    }
    default:
      return NoOverload();
  }
}

Value ToDouble(Arguments a) {
  const Value& v = a[0];
  switch (v.GetKind()) {
    case Kind::kDouble:
      return v;
    case Kind::kInt:
      return Value::Double(static_cast<double>(v.AsInt()));
    case Kind::kUint:
      return Value::Double(static_cast<double>(v.AsUint()));
    case Kind::kString: {
      const auto number = Number<double>(v.AsString());
      return number ? Value::Double(*number) : Value::Error("type conversion error from 'string' to 'double'");
    }
    default:
      return NoOverload();
  }
}

bool IsUtf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t size = c < 0x80                ? 1
                             : c >= 0xC2 && c < 0xE0 ? 2
                             : c >= 0xE0 && c < 0xF0 ? 3
                             : c >= 0xF0 && c < 0xF5 ? 4
                                                     : 0;
    if (size == 0 || i + size > text.size()) return false;
    for (std::size_t k = 1; k < size; ++k) {
      if ((text[i + k] & 0xC0) != 0x80) return false;
    }
    i += size;
  }
  return true;
}

Value ToString(Arguments a) {
  const Value& v = a[0];
  switch (v.GetKind()) {
    case Kind::kString:
      return v;
    case Kind::kBytes:
      return IsUtf8(v.AsString()) ? Value::String(v.AsString())
                                  : Value::Error("invalid UTF-8 in bytes, cannot convert to string");
    case Kind::kBool:
      return Value::String(v.AsBool() ? "true" : "false");
    case Kind::kInt:
      return Value::String(std::to_string(v.AsInt()));
    case Kind::kUint:
      return Value::String(std::to_string(v.AsUint()));
    case Kind::kDouble:
      return Value::String(fmt::format("{}", v.AsDouble()));
    case Kind::kTimestamp:
      return Value::String(TimestampText(v.AsInt()));
    case Kind::kDuration:
      return Value::String(DurationText(v.AsInt()));
    default:
      return NoOverload();
  }
}

Value ToBytes(Arguments a) {
  if (a[0].Is(Kind::kBytes)) return a[0];
  return a[0].Is(Kind::kString) ? Value::Bytes(a[0].AsString()) : NoOverload();
}

Value ToBool(Arguments a) {
  if (a[0].Is(Kind::kBool)) return a[0];
  if (!a[0].Is(Kind::kString)) return NoOverload();
  const std::string& text = a[0].AsString();
  for (const char* yes : {"true", "TRUE", "True", "t", "1"}) {
    if (text == yes) return Value::Bool(true);
  }
  for (const char* no : {"false", "FALSE", "False", "f", "0"}) {
    if (text == no) return Value::Bool(false);
  }
  return Value::Error("type conversion error from 'string' to 'bool'");
}

Value ToTimestamp(Arguments a) {
  if (a[0].Is(Kind::kTimestamp)) return a[0];
  if (a[0].Is(Kind::kInt))
    return std::abs(a[0].AsInt()) > 9'000'000'000 ? Value::Error("timestamp overflow")
                                                  : Value::Timestamp(a[0].AsInt() * 1'000'000'000);
  if (!a[0].Is(Kind::kString)) return NoOverload();
  const auto time = ParseTimestamp(a[0].AsString());
  return time ? Value::Timestamp(*time)
              : Value::Error("type conversion error from 'string' to 'google.protobuf.Timestamp'");
}

Value ToDuration(Arguments a) {
  if (a[0].Is(Kind::kDuration)) return a[0];
  if (!a[0].Is(Kind::kString)) return NoOverload();
  const auto span = ParseDuration(a[0].AsString());
  return span ? Value::Duration(*span)
              : Value::Error("type conversion error from 'string' to 'google.protobuf.Duration'");
}

Value TypeOf(Arguments a) { return Value::Type(a[0].TypeName()); }
Value Dyn(Arguments a) { return a[0]; }

}  // namespace

std::vector<NamedFunction> ConversionFunctions() {
  using Result = Type::Kind;
  return {{"int", {&ToInt, 1, 1, Result::kInt}},
          {"uint", {&ToUint, 1, 1, Result::kUint}},
          {"double", {&ToDouble, 1, 1, Result::kDouble}},
          {"string", {&ToString, 1, 1, Result::kString, true}},
          {"bytes", {&ToBytes, 1, 1, Result::kBytes, true}},
          {"bool", {&ToBool, 1, 1, Result::kBool}},
          {"timestamp", {&ToTimestamp, 1, 1, Result::kTimestamp}},
          {"duration", {&ToDuration, 1, 1, Result::kDuration}},
          {"type", {&TypeOf, 1, 1, Result::kType}},
          {"dyn", {&Dyn, 1, 1, Result::kDyn}}};
}

}  // namespace apimesh::cel
