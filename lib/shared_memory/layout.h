#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// Internal: the header at the beginning of every segment.
namespace apimesh::shared_memory {

inline constexpr std::uint64_t kMagic = 0x31'6765'736d'6970'61;  // "apimseg1"
inline constexpr std::size_t kChunkBytes = 64 << 10;
inline constexpr std::size_t kSlots = 4096;

/// Only the owner writes it. A slot contains the number of the lease that uses it, or 0.
struct Header {
  std::uint64_t magic;
  std::array<char, 32> id;
  std::array<std::atomic<std::uint64_t>, kSlots> slots;
};
static_assert(sizeof(Header) <= kChunkBytes);
/// Required because the atomics are shared between processes.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace apimesh::shared_memory
