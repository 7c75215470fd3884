#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Numbers in network byte order.
namespace apimesh::spdy {

inline void AppendUint32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

/// `bytes` has at least four bytes.
inline std::uint32_t ReadUint32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return value;
}

}  // namespace apimesh::spdy
