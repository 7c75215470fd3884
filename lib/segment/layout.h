#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// Internal: what stands at the beginning of every segment.
namespace apimesh::segment {

inline constexpr std::uint64_t kMagic = 0x31'6765'736d'6970'61;  // "apimseg1"
inline constexpr std::size_t kChunkBytes = 64 << 10;
inline constexpr std::size_t kSlots = 4096;

/// Written by the owner only. A slot holds the number of the lease it stands for, 0 for none.
struct Header {
  std::uint64_t magic;
  std::array<char, 32> id;
  std::array<std::atomic<std::uint64_t>, kSlots> slots;
};
static_assert(sizeof(Header) <= kChunkBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // it works between processes

}  // namespace apimesh::segment
