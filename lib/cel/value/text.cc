#include "lib/cel/value/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lib/base/text/utf8.h"
#include "lib/cel/types/type.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/time.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Printer = std::string (*)(const Value&, Arena&);

std::string JoinList(const Value& list, Arena& arena, Printer print) {
  std::string out = "[";
  for (std::size_t i = 0; i < ListSize(list); ++i) {
    if (i) out += ", ";
    out += print(ListAt(list, i, arena), arena);
  }
  return out + "]";
}

std::string JoinMap(const Value& map, Arena& arena, Printer print) {
  std::vector<std::string> entries;
  ForEachEntry(map, arena, [&](const Value& key, const Value& value) {
    entries.push_back(print(key, arena) + ": " + print(value, arena));
    return true;
  });
  std::sort(entries.begin(), entries.end());
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::string DoubleToLiteral(double value) {
  if (std::isnan(value)) return "double(\"NaN\")";
  if (std::isinf(value)) return value < 0 ? "double(\"-Infinity\")" : "double(\"Infinity\")";
  std::string text = DoubleToFixed(value);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string BytesToLiteral(std::string_view bytes) {
  std::string out = "b\"";
  for (const char c : bytes) out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  return out + "\"";
}

}  // namespace

std::size_t CodePoints(std::string_view text) {
  // In valid UTF-8 every byte that does not continue a sequence begins a code point.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

char32_t NextCodePoint(std::string_view text, std::size_t& position) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[position + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    ++position;
    return first;
  }
  const std::size_t length = Utf8Length(text, position);
  if (length == 0) {
    ++position;
    return 0xfffd;
  }
  char32_t out = length == 2 ? first & 0x1f : length == 3 ? first & 0x0f : first & 0x07;
  for (std::size_t i = 1; i < length; ++i) out = out << 6 | (byte(i) & 0x3f);
  position += length;
  return out;
}

std::vector<char32_t> ToCodePoints(std::string_view text) {
  std::vector<char32_t> out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) out.push_back(NextCodePoint(text, position));
  return out;
}

std::string ToUtf8(const char32_t* begin, const char32_t* end) {
  std::string out;
  for (; begin != end; ++begin) AppendUtf8(out, *begin);
  return out;
}

std::string DoubleToText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  int exponent = 0;
  const char* digits = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits, end, exponent);
  // This is where Go's %g writes an exponent.
  if (exponent < -4 || exponent >= 6) return std::string(text);
  return DoubleToFixed(value);
}

std::string DoubleToFixed(double value) {
  if (!std::isfinite(value)) return DoubleToText(value);
  // Go pads the shortest digits with zeros, where std::to_chars writes all digits of a large number.
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), end, exponent);
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  const std::string sign = std::signbit(value) ? "-" : "";
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0');
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string ToLiteral(const Value& value, Arena& arena) {
  switch (value.GetKind()) {
    case Kind::kUint: return fmt::format("{}u", value.AsUint());
    case Kind::kDouble: return DoubleToLiteral(value.AsDouble());
    case Kind::kString: return meta::Quoted(value.AsString());
    case Kind::kBytes: return BytesToLiteral(value.AsString());
    case Kind::kList:
    case Kind::kJsonList: return JoinList(value, arena, ToLiteral);
    case Kind::kMap:
    case Kind::kJsonMap:
    case Kind::kDynamicMap: return JoinMap(value, arena, ToLiteral);
    case Kind::kTimestamp:
      return fmt::format("timestamp(\"{}\")", TimestampToText(Value::Timestamp(value.AsInt(), value.Nanos())));
    case Kind::kDuration: return fmt::format("duration(\"{}\")", DurationToText(value.AsInt()));
    case Kind::kOptional:
      return value.AsOptional() ? "optional.of(" + ToLiteral(*value.AsOptional(), arena) + ")" : "optional.none()";
    case Kind::kOpaque:
      if (value.AsOpaque().Constructor().empty()) return value.AsOpaque().ToString();
      return fmt::format("{}({})", value.AsOpaque().Constructor(), meta::Quoted(value.AsOpaque().ToString()));
    case Kind::kError: return "<error>";  // in an optional value
    case Kind::kObject:
      if (value.ObjectType()->name.starts_with("google.protobuf.")) return "<" + value.ObjectType()->name + ">";
      return value.ObjectType()->name + JoinMap(Value::Map(value.AsMapData()), arena, ToLiteral);
    default: return ToMessage(value, arena);
  }
}

std::string ToMessage(const Value& value, Arena& arena) {
  switch (value.GetKind()) {
    case Kind::kNull: return "null";
    case Kind::kBool: return value.AsBool() ? "true" : "false";
    case Kind::kInt: return fmt::format("{}", value.AsInt());
    case Kind::kUint: return fmt::format("{}", value.AsUint());
    case Kind::kDouble: return DoubleToText(value.AsDouble());
    case Kind::kString:
    case Kind::kError: return std::string(value.AsString());
    case Kind::kBytes: {
      std::vector<int> bytes;
      for (const char c : value.AsString()) bytes.push_back(static_cast<unsigned char>(c));
      return fmt::format("[{}]", fmt::join(bytes, " "));
    }
    case Kind::kList:
    case Kind::kJsonList: return JoinList(value, arena, ToMessage);
    case Kind::kMap:
    case Kind::kJsonMap:
    case Kind::kDynamicMap: return JoinMap(value, arena, ToMessage);
    case Kind::kTimestamp: {
      std::string text = TimestampToText(Value::Timestamp(value.AsInt(), value.Nanos()));
      text[text.find('T')] = ' ';
      text.pop_back();  // "Z"
      return text + " +0000 UTC";
    }
    case Kind::kType: return "type(" + value.AsType()->ToDeclaration() + ")";
    case Kind::kOptional:
      return value.AsOptional() ? "optional(" + ToMessage(*value.AsOptional(), arena) + ")" : "optional.none()";
    case Kind::kOpaque: return value.AsOpaque().ToString();
    default: return ToLiteral(value, arena);
  }
}

}  // namespace apimesh::cel
