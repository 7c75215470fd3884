#include "lib/meta/uuid.h"

#include <fmt/format.h>

namespace apimesh::meta {

std::string NewUuid(const RandomBits& random) {
  const std::uint64_t high = (random() & ~0xf000ull) | 0x4000ull;                          // version 4
  const std::uint64_t low = (random() & 0x3fffffffffffffffull) | 0x8000000000000000ull;    // RFC 4122 variant
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffffffffffffull);
}

}  // namespace apimesh::meta
