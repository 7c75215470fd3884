#include "lib/meta/uuid.h"

namespace apimesh::meta {

std::string NewUuid(const RandomBits& random) {
  const std::uint64_t high = (random() & ~0xf000ull) | 0x4000ull;                        // version 4
  const std::uint64_t low = (random() & 0x3fffffffffffffffull) | 0x8000000000000000ull;  // RFC 4122 variant
  std::string text(36, '-');
  std::size_t place = 0;
  for (const std::uint64_t half : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      if (place == 8 || place == 13 || place == 18 || place == 23) ++place;
      text[place++] = "0123456789abcdef"[half >> shift & 0xf];
    }
  }
  return text;
}

}  // namespace apimesh::meta
