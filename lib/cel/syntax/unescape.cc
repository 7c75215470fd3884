#include "lib/cel/syntax/unescape.h"

#include "lib/base/text/utf8.h"

namespace apimesh::cel {
namespace {

std::string NormalizeLineBreaks(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      out += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

int HexDigit(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

char SimpleEscape(char c) {
  switch (c) {
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    default: return c;  // quotes, backslash, question mark
  }
}

}  // namespace

// The lexer has checked that every escape sequence is complete.
std::optional<std::string> Unescape(std::string_view literal, bool bytes, std::string& error) {
  const std::string normal = NormalizeLineBreaks(literal);
  std::string_view text = normal;
  const bool raw = text[0] == 'r' || text[0] == 'R';
  if (raw) text.remove_prefix(1);
  const std::size_t quotes = text.size() >= 6 && (text.starts_with("'''") || text.starts_with("\"\"\"")) ? 3 : 1;
  text = text.substr(quotes, text.size() - 2 * quotes);
  if (raw) return std::string(text);
  std::string out;
  while (!text.empty()) {
    if (text[0] != '\\') {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    const char c = text[1];
    const bool octal = c >= '0' && c <= '3';
    const std::size_t digits = octal ? 3 : c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      out += SimpleEscape(c);
      text.remove_prefix(2);
      continue;
    }
    if (bytes && digits >= 4) {
      error = "unable to unescape string";
      return std::nullopt;
    }
    std::uint32_t code = 0;
    for (const char digit : text.substr(octal ? 1 : 2, digits)) code = code * (octal ? 8 : 16) + HexDigit(digit);
    if (bytes) {
      out += static_cast<char>(code);
    } else if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      error = "invalid unicode code point";
      return std::nullopt;
    } else {
      AppendUtf8(out, code);
    }
    text.remove_prefix(digits + (octal ? 1 : 2));
  }
  return out;
}

}  // namespace apimesh::cel
