#include <cstring>

#include "lib/codec/json_parts.h"

namespace apimesh::codec {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::size_t SkipSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
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
  std::size_t at = SkipSpace(text, 0);
  if (at >= text.size() || text[at] != '{') return std::nullopt;
  at = SkipSpace(text, at + 1);
  while (at < text.size() && text[at] == '"') {
    const std::size_t key_end = SkipJsonString(text, at);
    if (key_end == kNone) return std::nullopt;
    const bool found = text.substr(at + 1, key_end - at - 2) == name;
    at = SkipSpace(text, key_end);
    if (at >= text.size() || text[at] != ':') return std::nullopt;
    at = SkipSpace(text, at + 1);
    const std::size_t end = SkipJsonValue(text, at);
    if (end == kNone) return std::nullopt;
    if (found) return text.substr(at, end - at);
    at = SkipSpace(text, end);
    if (at >= text.size() || text[at] != ',') return std::nullopt;
    at = SkipSpace(text, at + 1);
  }
  return std::nullopt;
}

}  // namespace apimesh::codec
