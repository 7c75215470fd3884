#include <cstring>

#include "lib/base/text/utf8.h"
#include "lib/codec/json/json_cursor.h"

namespace apimesh::codec {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::uint32_t Hex4(std::string_view raw, std::size_t at) {
  std::uint32_t code = 0;
  for (std::size_t i = at; i < at + 4 && i < raw.size(); ++i) {
    const char c = raw[i];
    code = code * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return code;
}

}  // namespace

std::size_t SkipJsonString(std::string_view text, std::size_t at) {
  const char* const begin = text.data() + at + 1;
  const char* const end = text.data() + text.size();
  for (const char* from = begin; from < end;) {
    const char* const quote = static_cast<const char*>(std::memchr(from, '"', static_cast<std::size_t>(end - from)));
    if (!quote) return kNone;
    const char* back = quote;
    while (back > begin && back[-1] == '\\') --back;
    if ((quote - back) % 2 == 0) return static_cast<std::size_t>(quote - text.data()) + 1;
    from = quote + 1;
  }
  return kNone;
}

std::size_t SkipJsonValue(std::string_view text, std::size_t at) {
  if (at >= text.size()) return kNone;
  if (text[at] == '"') return SkipJsonString(text, at);
  if (text[at] != '{' && text[at] != '[') {
    const std::size_t begin = at;
    while (at < text.size() && text[at] != ',' && text[at] != '}' && text[at] != ']' && !IsSpace(text[at])) ++at;
    return at > begin ? at : kNone;
  }
  std::size_t depth = 0;
  while (at < text.size()) {
    switch (text[at]) {
      case '"':
        at = SkipJsonString(text, at);
        if (at == kNone) return kNone;
        continue;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      default: break;
    }
    ++at;
  }
  return kNone;
}

std::optional<std::string_view> RawField(std::string_view text, std::string_view name) {
  JsonCursor cursor(text);
  std::optional<std::string_view> found;
  cursor.Object([&](std::string_view key, std::size_t) {
    const std::size_t begin = cursor.Position();
    if (!cursor.SkipValue()) return false;
    if (key != name) return true;
    found = cursor.Since(begin);
    return false;
  });
  return found;
}

std::string UnescapeJson(std::string_view raw) {
  if (raw.find('\\') == kNone) return std::string(raw);
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i];
      continue;
    }
    switch (const char c = raw[++i]) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'u': {
        std::uint32_t code = Hex4(raw, i + 1);
        i += 4;
        const std::uint32_t low = raw.substr(i + 1, 2) == "\\u" ? Hex4(raw, i + 3) : 0;
        if (code >= 0xd800 && code < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          i += 6;
        }
        AppendUtf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);  // half of a surrogate pair is no character
        break;
      }
      default: out += c;
    }
  }
  return out;
}

}  // namespace apimesh::codec
