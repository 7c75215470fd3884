#pragma once

#include <array>
#include <cstdint>

namespace apimesh::codec {

/// Character classes of the bytes of a YAML text. The functions read up to three bytes after `at`, so the text must be
/// followed by NULs.
inline constexpr std::uint8_t kYamlBlank = 1;   // space and tab
inline constexpr std::uint8_t kYamlBreak = 2;   // line breaks, and first bytes of multi-byte line breaks
inline constexpr std::uint8_t kYamlEnd = 4;     // NUL
inline constexpr std::uint8_t kYamlFlow = 8;    // ends a plain scalar inside a flow collection
inline constexpr std::uint8_t kYamlAlpha = 16;  // letters, digits, "_" and "-"
inline constexpr std::uint8_t kYamlUri = 32;    // other characters that a tag may contain
inline constexpr std::uint8_t kYamlQuote = 64;  // quotes and the backslash
inline constexpr std::uint8_t kYamlColon = 128;

inline constexpr std::array<std::uint8_t, 256> kYamlClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  const auto add = [&classes](const char* bytes, std::uint8_t value) {
    for (; *bytes != 0; ++bytes) classes[static_cast<unsigned char>(*bytes)] |= value;
  };
  classes[0] = kYamlEnd;
  add(" \t", kYamlBlank);
  add("\n\r\xc2\xe2", kYamlBreak);
  add(",?[]{}", kYamlFlow);
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", kYamlAlpha);
  add(";/?:@&=+$,.!~*'()[]%", kYamlUri);
  add("\"'\\", kYamlQuote);
  add(":", kYamlColon);
  return classes;
}();

inline std::uint8_t YamlClass(char c) { return kYamlClasses[static_cast<unsigned char>(c)]; }
inline bool IsYamlBlank(char c) { return c == ' ' || c == '\t'; }

/// Returns whether `at` is a line feed, carriage return, U+0085, U+2028 or U+2029.
inline bool IsYamlBreak(const char* at) {
  if (!(YamlClass(*at) & kYamlBreak)) return false;
  if (*at == '\n' || *at == '\r') return true;
  if (*at == '\xc2') return at[1] == '\x85';
  return at[1] == '\x80' && (at[2] == '\xa8' || at[2] == '\xa9');
}
inline bool IsYamlBreakOrEnd(const char* at) { return *at == 0 || IsYamlBreak(at); }
inline bool IsYamlSpaceOrEnd(const char* at) { return *at == 0 || IsYamlBlank(*at) || IsYamlBreak(at); }

/// Returns whether `at` is "---" or "..." followed by a space or the end. The caller checks that it is at the start of
/// a line.
inline bool IsYamlDocumentIndicator(const char* at) {
  return (*at == '-' || *at == '.') && at[1] == *at && at[2] == *at && IsYamlSpaceOrEnd(at + 3);
}

}  // namespace apimesh::codec
