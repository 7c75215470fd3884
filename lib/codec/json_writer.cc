#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "lib/codec/codec.h"
#include "lib/codec/utf8.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;

/// Bytes that cannot go into a JSON string as they are: control characters, quotes, HTML's special characters, and the
/// first bytes of longer UTF-8 sequences, which are looked at one by one.
constexpr std::array<bool, 256> kSpecial = [] {
  std::array<bool, 256> special{};
  for (int c = 0; c < 0x20; ++c) special[c] = true;
  for (int c = 0x80; c < 0x100; ++c) special[c] = true;
  for (const unsigned char c : {'"', '\\', '<', '>', '&'}) special[c] = true;
  return special;
}();

/// Whether 16 bytes can go out as they are.
bool ArePlain(const char* text) {
  using Bytes = unsigned char __attribute__((vector_size(16)));
  Bytes bytes;
  std::memcpy(&bytes, text, sizeof bytes);
  const auto special = (bytes < 0x20) | (bytes >= 0x80) | (bytes == '"') | (bytes == '\\') | (bytes == '<') | (bytes == '>') | (bytes == '&');
  std::uint64_t halves[2];
  static_assert(sizeof halves == sizeof special);
  std::memcpy(halves, &special, sizeof halves);
  return (halves[0] | halves[1]) == 0;
}

void AppendHexEscape(std::string& out, unsigned value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const char escape[] = {'\\', 'u', kDigits[value >> 12 & 15], kDigits[value >> 8 & 15], kDigits[value >> 4 & 15],
                         kDigits[value & 15]};
  out.append(escape, sizeof escape);
}

void AppendString(std::string& out, std::string_view text) {
  out += '"';
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text.size() - at >= 16 && ArePlain(text.data() + at)) {
      at += 16;
      continue;
    }
    const auto c = static_cast<unsigned char>(text[at]);
    if (!kSpecial[c]) {
      ++at;
      continue;
    }
    if (c >= 0x80) {
      const std::size_t length = Utf8Length(text, at);
      // U+2028 and U+2029 are line ends in JavaScript.
      const bool line_end = length == 3 && c == 0xe2 && text[at + 1] == '\x80' && (text[at + 2] & ~1) == char(0xa8);
      if (length != 0 && !line_end) {
        at += length;
        continue;
      }
      out.append(text, from, at - from);
      AppendHexEscape(out, length == 0 ? 0xfffd : 0x2028 + (text[at + 2] & 1));
      at += length == 0 ? 1 : length;
      from = at;
      continue;
    }
    out.append(text, from, at - from);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: AppendHexEscape(out, c);
    }
    from = ++at;
  }
  out.append(text, from, text.size() - from);
  out += '"';
}

template <class Integer>
void AppendInteger(std::string& out, Integer value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

/// Shortest digits; an exponent only for very large and very small values, without leading zeros.
void AppendDouble(std::string& out, double value) {
  char buffer[400];
  const double magnitude = std::abs(value);
  const bool scientific = magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21);
  char* end = std::to_chars(buffer, buffer + sizeof buffer, value,
                            scientific ? std::chars_format::scientific : std::chars_format::fixed).ptr;
  std::string_view text(buffer, end - buffer);
  if (scientific && text.size() >= 4 && text[text.size() - 4] == 'e' && text[text.size() - 3] == '-' &&
      text[text.size() - 2] == '0') {
    out.append(text.substr(0, text.size() - 2));
    out += text.back();
    return;
  }
  out.append(text);
}

void AppendScalar(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::bool_: out += value.get_bool() ? "true" : "false"; break;
    case json::kind::int64: AppendInteger(out, value.get_int64()); break;
    case json::kind::uint64: AppendInteger(out, value.get_uint64()); break;
    case json::kind::double_: AppendDouble(out, value.get_double()); break;
    case json::kind::string: AppendString(out, value.get_string()); break;
    default: out += "null";
  }
}

void AppendPretty(std::string& out, const json::value& value, std::size_t indent) {
  const auto new_line = [&out](std::size_t width) {
    out += '\n';
    out.append(width, ' ');
  };
  if (value.is_object() && !value.get_object().empty()) {
    char before = '{';
    for (const auto& [key, child] : value.get_object()) {
      out += before;
      before = ',';
      new_line(indent + 2);
      AppendString(out, key);
      out += ": ";
      AppendPretty(out, child, indent + 2);
    }
    new_line(indent);
    out += '}';
  } else if (value.is_array() && !value.get_array().empty()) {
    char before = '[';
    for (const json::value& child : value.get_array()) {
      out += before;
      before = ',';
      new_line(indent + 2);
      AppendPretty(out, child, indent + 2);
    }
    new_line(indent);
    out += ']';
  } else {
    AppendJson(out, value);
  }
}

}  // namespace

void AppendJson(std::string& out, const json::value& value) {
  if (value.is_object()) {
    out += '{';
    bool first = true;
    for (const auto& [key, child] : value.get_object()) {
      if (!first) out += ',';
      first = false;
      AppendString(out, key);
      out += ':';
      AppendJson(out, child);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    bool first = true;
    for (const json::value& child : value.get_array()) {
      if (!first) out += ',';
      first = false;
      AppendJson(out, child);
    }
    out += ']';
  } else {
    AppendScalar(out, value);
  }
}

std::string WriteJson(const json::value& value) {
  std::string out;
  out.reserve(1024);
  AppendJson(out, value);
  return out;
}

std::string WritePrettyJson(const json::value& value, std::size_t indent) {
  std::string out;
  out.reserve(2048);
  AppendPretty(out, value, indent);
  return out;
}

}  // namespace apimesh::codec
