#include "lib/codec/yaml/yaml_text.h"

#include <cstdint>

#include <fmt/format.h>

#include "lib/base/text/utf8.h"

namespace apimesh::codec {
namespace {

constexpr std::size_t kWidth = 80;

std::uint32_t RuneAt(std::string_view text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i])); };
  if (length < 2) return byte(0);
  std::uint32_t rune = byte(0) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) rune = (rune << 6) + (byte(i) & 0x3f);
  return rune;
}

bool IsPrintable(std::uint32_t rune) {
  return rune == '\n' || (rune >= 0x20 && rune <= 0x7e) || (rune >= 0xa0 && rune <= 0xfffd && rune != 0xfeff);
}
bool IsBreak(std::uint32_t rune) {
  return rune == '\n' || rune == '\r' || rune == 0x85 || rune == 0x2028 || rune == 0x2029;
}

std::string Escape(std::uint32_t rune) {
  switch (rune) {
    case 0x00: return "\\0";
    case 0x07: return "\\a";
    case 0x08: return "\\b";
    case 0x09: return "\\t";
    case 0x0a: return "\\n";
    case 0x0b: return "\\v";
    case 0x0c: return "\\f";
    case 0x0d: return "\\r";
    case 0x1b: return "\\e";
    case 0x22: return "\\\"";
    case 0x5c: return "\\\\";
    case 0x85: return "\\N";
    case 0x2028: return "\\L";
    case 0x2029: return "\\P";
    default: break;
  }
  if (rune <= 0xff) return fmt::format("\\x{:02X}", rune);
  return rune <= 0xffff ? fmt::format("\\u{:04X}", rune) : fmt::format("\\U{:08X}", rune);
}

/// The number of characters in the last line.
std::size_t ColumnOf(std::string_view out) {
  std::size_t column = 0;
  for (std::size_t i = out.size(); i > 0 && out[i - 1] != '\n'; --i) {
    if ((static_cast<unsigned char>(out[i - 1]) & 0xc0) != 0x80) ++column;
  }
  return column;
}

}  // namespace

bool NeedsYamlEscapes(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = Utf8Length(text, at);
    const std::uint32_t rune = RuneAt(text, at, length);
    if (length == 0 || !IsPrintable(rune) || (IsBreak(rune) && rune != '\n')) return true;
    at += length;
  }
  return false;
}

void AppendYamlText(std::string& out, std::string_view text, YamlStyle style, const std::size_t* indent) {
  const bool is_double = style == YamlStyle::kDoubleQuoted, quoted = style != YamlStyle::kPlain;
  const char quote = is_double ? '"' : '\'';
  if (quoted) out += quote;
  std::size_t column = indent ? ColumnOf(out) : 0;
  bool after_space = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t valid = Utf8Length(text, at), length = valid == 0 ? 1 : valid;
    const std::uint32_t rune = RuneAt(text, at, valid);
    const bool next_is_space = at + 1 < text.size() && text[at + 1] == ' ';
    if (rune == ' ') {
      const bool inside = !quoted || (at > 0 && at + 1 < text.size());
      // Only double quotes can begin a line with a space, because they can escape it.
      if (indent && !after_space && column > kWidth && inside && (is_double || !next_is_space)) {
        out += '\n';
        out.append(*indent, ' ');
        column = *indent;
        if (next_is_space) out += '\\', ++column;
      } else {
        out += ' ';
        ++column;
      }
      after_space = true;
      ++at;
      continue;
    }
    after_space = false;
    if (is_double && (valid == 0 || !IsPrintable(rune) || IsBreak(rune) || rune == '"' || rune == '\\')) {
      const std::string escape = Escape(rune);
      out += escape;
      column += escape.size();
    } else {
      if (style == YamlStyle::kSingleQuoted && rune == '\'') out += '\'', ++column;
      out += text.substr(at, length);
      ++column;
    }
    at += length;
  }
  if (quoted) out += quote;
}

}  // namespace apimesh::codec
