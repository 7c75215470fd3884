#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "lib/base/text/utf8.h"
#include "lib/codec/codec.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;

/// Bytes that need special handling in a JSON string: control characters, quotes, special characters of HTML, and the
/// first bytes of multi-byte UTF-8 sequences, which are checked individually.
constexpr std::array<bool, 256> kSpecial = [] {
  std::array<bool, 256> special{};
  for (int c = 0; c < 0x20; ++c) special[c] = true;
  for (int c = 0x80; c < 0x100; ++c) special[c] = true;
  for (const unsigned char c : {'"', '\\', '<', '>', '&'}) special[c] = true;
  return special;
}();

/// Returns whether 16 bytes need no escaping.
bool ArePlain(const char* text) {
  using Bytes = unsigned char __attribute__((vector_size(16)));
  Bytes bytes;
  std::memcpy(&bytes, text, sizeof bytes);
  const auto special = (bytes < 0x20) | (bytes >= 0x80) | (bytes == '"') | (bytes == '\\') | (bytes == '<') |
                       (bytes == '>') | (bytes == '&');
  std::uint64_t halves[2];
  static_assert(sizeof halves == sizeof special);
  std::memcpy(halves, &special, sizeof halves);
  return (halves[0] | halves[1]) == 0;
}

void AppendHexEscape(std::string& out, unsigned value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const char escape[] = {
      '\\', 'u', kDigits[value >> 12 & 15], kDigits[value >> 8 & 15], kDigits[value >> 4 & 15], kDigits[value & 15]};
  out.append(escape, sizeof escape);
}

/// Returns whether a text has at most 64 bytes and needs no escaping.
bool IsShortAndPlain(std::string_view text) {
  if (text.size() > 64) return false;
  if (text.size() >= 16) {
    for (std::size_t at = 0; at + 16 < text.size(); at += 16) {
      if (!ArePlain(text.data() + at)) return false;
    }
    return ArePlain(text.data() + text.size() - 16);
  }
  for (const char c : text) {
    if (kSpecial[static_cast<unsigned char>(c)]) return false;
  }
  return true;
}

/// Appends a quoted text, preceded by `before` and followed by `after` (0: nothing). Most texts are short, so
/// everything is appended at once.
bool AppendShort(std::string& out, std::string_view text, char before, char after) {
  if (!IsShortAndPlain(text)) return false;
  char buffer[64 + 4];
  char* end = buffer;
  if (before) *end++ = before;
  *end++ = '"';
  std::memcpy(end, text.data(), text.size());
  end += text.size();
  *end++ = '"';
  if (after) *end++ = after;
  out.append(buffer, static_cast<std::size_t>(end - buffer));
  return true;
}

void AppendString(std::string& out, std::string_view text) {
  if (AppendShort(out, text, 0, 0)) return;
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
      // JavaScript treats U+2028 and U+2029 as line terminators, so they are escaped.
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

/// Appends a large integral number as its shortest digits, which are filled up with zeros: 9223372036854775000, not
/// 9223372036854774784.
void AppendLargeDouble(std::string& out, double value) {
  char buffer[40];
  const char* const end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  std::size_t missing = 0;  // the digits after the first
  std::from_chars(text.data() + e + 2, end, missing);
  for (const char c : text.substr(0, e)) {
    if (c != '.') out += c;
  }
  const std::size_t dot = text.find('.');
  out.append(missing - (dot < e ? e - dot - 1 : 0), '0');
}

/// Appends the shortest decimal representation. Only very large and very small values have an exponent, without leading
/// zeros.
void AppendDouble(std::string& out, double value) {
  char buffer[400];
  const double magnitude = std::abs(value);
  const bool scientific = magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21);
  if (magnitude >= 0x1p53 && !scientific) return AppendLargeDouble(out, value);
  char* end = std::to_chars(buffer, buffer + sizeof buffer, value,
                            scientific ? std::chars_format::scientific : std::chars_format::fixed)
                  .ptr;
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

void AppendObject(std::string& out, const json::object& object) {
  if (object.empty()) {
    out += "{}";
    return;
  }
  char before = '{';
  for (const auto& [key, child] : object) {
    if (!AppendShort(out, key, before, ':')) {
      out += before;
      AppendString(out, key);
      out += ':';
    }
    before = ',';
    AppendJson(out, child);
  }
  out += '}';
}

}  // namespace

void AppendJson(std::string& out, const json::value& value) {
  if (value.is_object()) {
    AppendObject(out, value.get_object());
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

std::string WriteJson(const json::object& object) {
  std::string out;
  out.reserve(1024);
  AppendObject(out, object);
  return out;
}

std::string WritePrettyJson(const json::value& value, std::size_t indent) {
  std::string out;
  out.reserve(2048);
  AppendPretty(out, value, indent);
  return out;
}

}  // namespace apimesh::codec
