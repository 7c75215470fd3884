#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Varints of protobuf's wire format. They are inline, because every request and every event has many of them.
namespace apimesh {

inline std::size_t VarintSize(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

inline void AppendVarint(std::string& out, std::uint64_t value) {
  char buffer[10];
  std::size_t size = 0;
  for (; value >= 0x80; value >>= 7) buffer[size++] = static_cast<char>(value | 0x80);
  buffer[size++] = static_cast<char>(value);
  out.append(buffer, size);
}

/// Removes a varint from the start of `in`. Returns false if it is incomplete or longer than ten bytes; `in` may have
/// lost some bytes then. Bits above the 64th are ignored, as in the protobuf library.
inline bool ReadVarint(std::string_view& in, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace apimesh
