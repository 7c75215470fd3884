#pragma once

// The layout of bbolt's files (version 2, little-endian), limited to what etcd's snapshots need.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace apimesh::store::bolt {

inline constexpr std::uint32_t kMagic = 0xED0CDAED;
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::size_t kPageBytes = 4096;

enum PageFlag : std::uint16_t { kBranch = 0x01, kLeaf = 0x02, kMeta = 0x04, kFreelist = 0x10 };
inline constexpr std::uint32_t kBucketElement = 0x01;

struct PageHeader {
  std::uint64_t id;
  std::uint16_t flags;
  std::uint16_t count;
  std::uint32_t overflow;  // the number of pages after this one that belong to it
};
struct BucketHeader {
  std::uint64_t root;  // 0: the page follows inline
  std::uint64_t sequence;
};
struct Meta {
  std::uint32_t magic, version, page_size, flags;
  BucketHeader root;
  std::uint64_t freelist, high_water, transaction, checksum;
};
struct BranchElement {
  std::uint32_t position, key_size;  // the position is relative to this element
  std::uint64_t page;
};
struct LeafElement {
  std::uint32_t flags, position, key_size, value_size;
};
static_assert(sizeof(PageHeader) == 16 && sizeof(Meta) == 64 && sizeof(BranchElement) == 16 &&
              sizeof(LeafElement) == 16);

/// FNV-1a over the meta, without its last field.
inline std::uint64_t Checksum(const Meta& meta) {
  std::uint64_t hash = 14695981039346656037ull;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&meta);
  for (std::size_t i = 0; i < offsetof(Meta, checksum); ++i) hash = (hash ^ bytes[i]) * 1099511628211ull;
  return hash;
}

}  // namespace apimesh::store::bolt
