#pragma once

#include <span>
#include <string>

namespace apimesh {

/// Two digits a byte. For ids and digests: no formatting library on the way.
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

}  // namespace apimesh
