#pragma once

#include <span>
#include <string>
#include <string_view>

namespace apimesh {

/// Two digits per byte, for ids and digests. It does not use a formatting library.
inline std::string Hex(std::span<const unsigned char> bytes, const char* digits = "0123456789abcdef") {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}
inline std::string UpperHex(std::span<const unsigned char> bytes) { return Hex(bytes, "0123456789ABCDEF"); }

/// 0 to 15; -1 if it is not a hexadecimal digit.
inline int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
/// The inverse of Hex(); empty if there are other characters, or an odd number of them.
inline std::string FromHex(std::string_view text) {
  std::string bytes;
  if (text.size() % 2 != 0) return bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = HexDigit(text[i]), low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace apimesh
