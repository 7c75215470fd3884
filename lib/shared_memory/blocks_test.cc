#include "lib/shared_memory/blocks.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "lib/shared_memory/layout.h"

namespace apimesh::shared_memory {
namespace {

constexpr std::size_t kBytes = 8 << 20;

TEST(Blocks, SizesAreASixteenthApart) {
  EXPECT_EQ(Blocks::BlockSize(0), 64u);
  EXPECT_EQ(Blocks::BlockSize(64), 64u);
  EXPECT_EQ(Blocks::BlockSize(65), 128u);
  EXPECT_EQ(Blocks::BlockSize(1082), 1088u);
  EXPECT_EQ(Blocks::BlockSize(6100), 6144u);
  EXPECT_EQ(Blocks::BlockSize(33'000), 65'536u);
  EXPECT_EQ(Blocks::BlockSize(100'000), 131'072u);
  for (std::size_t size = 1024; size <= 32 << 10; size += 13) {
    EXPECT_GE(Blocks::BlockSize(size), size);
    EXPECT_LE(Blocks::BlockSize(size), size + size / 16 + 64);
  }
}

TEST(Blocks, DoNotOverlapAndAreAllFreed) {
  std::size_t given_back = 0;
  Blocks blocks(kBytes, [&](std::size_t, std::size_t size) { given_back += size; });
  std::map<std::size_t, std::size_t> live;  // offset to size
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    if (live.empty() || random() % 5 < 3) {
      const std::size_t size = random() % 10 == 0 ? random() % 200'000 : random() % 9'000;
      const auto offset = blocks.Allocate(size);
      if (!offset) continue;  // the range is full, which is expected
      ASSERT_EQ(*offset % 64, 0u);
      ASSERT_LE(*offset + size, kBytes);
      const auto after = live.lower_bound(*offset);
      ASSERT_TRUE(after == live.end() || *offset + size <= after->first);
      if (after != live.begin()) {
        const auto before = std::prev(after);
        ASSERT_LE(before->first + before->second, *offset);
      }
      live[*offset] = std::max<std::size_t>(size, 1);
    } else {
      auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      blocks.Free(victim->first);
      live.erase(victim);
    }
  }
  for (const auto& [offset, size] : live) blocks.Free(offset);
  EXPECT_EQ(blocks.Used(), 0u);
  EXPECT_GT(given_back, 0u);
}

TEST(Blocks, TheCompleteRangeCanBeReused) {
  Blocks blocks(kBytes, [](std::size_t, std::size_t) {});
  for (int round = 0; round < 3; ++round) {
    std::vector<std::size_t> offsets;
    while (const auto offset = blocks.Allocate(kChunkBytes)) offsets.push_back(*offset);
    EXPECT_EQ(offsets.size(), kBytes / kChunkBytes);
    for (const std::size_t offset : offsets) blocks.Free(offset);
    const auto whole = blocks.Allocate(kBytes);  // succeeds only if adjacent ranges were merged
    ASSERT_TRUE(whole);
    EXPECT_EQ(*whole, 0u);
    blocks.Free(*whole);
  }
  EXPECT_FALSE(blocks.Allocate(kBytes + 1));
  EXPECT_FALSE(blocks.Allocate(~std::size_t{0}));
}

TEST(Blocks, TheLowestFreeBlockIsUsed) {
  Blocks blocks(kBytes, [](std::size_t, std::size_t) {});
  const auto first = blocks.Allocate(1000);
  const auto second = blocks.Allocate(1000);
  blocks.Allocate(1000);
  blocks.Free(*first);
  blocks.Free(*second);
  EXPECT_EQ(blocks.Allocate(1000), first);
}

}  // namespace
}  // namespace apimesh::shared_memory
