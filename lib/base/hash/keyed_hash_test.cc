#include "lib/base/hash/keyed_hash.h"

#include <vector>

#include <gtest/gtest.h>

#include "lib/base/expiring_cache.h"

namespace apimesh {
namespace {

// The key is 00 01 … 0f. Computed with `openssl mac -macopt size:16 SIPHASH` from the text that Add() describes.
constexpr SipKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};

struct Case {
  std::vector<std::string_view> parts;
  Digest want;
};
const Case kCases[] = {
    {{}, {0xe6a825ba047f81a3, 0x930255c71472f66d}},
    {{""}, {0x96f2e6ef68ab93c2, 0x1d8057629da492bd}},
    {{"abc"}, {0xeacc84ad7c5427bf, 0x211e6aef4a9763bb}},
    {{"ab", "c"}, {0x949de41b08030e0a, 0x84984f4fe1077ce7}},
    {{"a", "bc"}, {0x9860b82bdeb5f8d6, 0xc54b3a98ee47cc51}},
    {{"12345678"}, {0x978a59d617b737cc, 0xd52b594d84fb5818}},
    {{"123456789abcdef"}, {0xbd8c8cbe64238f6b, 0x64712ed576c84da2}},
};

TEST(KeyedHash, IsSipHash) {
  for (const Case& test : kCases) {
    KeyedHash hash(kKey);
    for (const std::string_view part : test.parts) hash.Add(part);
    EXPECT_EQ(hash.Finish(), test.want) << test.parts.size() << " parts";
  }
}

TEST(KeyedHash, DependsOnTheKey) {
  KeyedHash one, other(kKey);
  EXPECT_NE(one.Finish(), other.Finish());
}

Digest Key(std::uint64_t number) { return {number, number}; }
const SteadyTime kNow{std::chrono::hours(1)};
constexpr auto kSecond = std::chrono::seconds(1);

TEST(ExpiringCache, DropsTheOldestWhenFull) {
  ExpiringCache<int> cache(64 * 1024);
  for (int i = 0; i < 10'000; ++i) cache.Put(Key(i), i, 100, kNow + kSecond, kNow);
  EXPECT_LE(cache.Bytes(), 64u * 1024);
  EXPECT_GT(cache.Size(), 100u);
  EXPECT_EQ(cache.Find(Key(0), kNow), nullptr);
  ASSERT_NE(cache.Find(Key(9999), kNow), nullptr);
  EXPECT_EQ(*cache.Find(Key(9999), kNow), 9999);
}

TEST(ExpiringCache, ForgetsWhatHasExpired) {
  ExpiringCache<int> cache(64 * 1024);
  cache.Put(Key(1), 1, 0, kNow + kSecond, kNow);
  cache.Put(Key(2), 2, 0, kNow + 3 * kSecond, kNow);
  EXPECT_EQ(cache.Find(Key(1), kNow + kSecond), nullptr);
  EXPECT_NE(cache.Find(Key(2), kNow + kSecond), nullptr);
  cache.DropExpired(kNow + 3 * kSecond);
  EXPECT_EQ(cache.Bytes(), 0u);
}

TEST(ExpiringCache, ReplacesAndRemoves) {
  ExpiringCache<int> cache(64 * 1024);
  cache.Put(Key(1), 1, 0, kNow + kSecond, kNow);
  const std::size_t bytes = cache.Bytes();
  cache.Put(Key(1), 2, 0, kNow + kSecond, kNow);
  EXPECT_EQ(cache.Bytes(), bytes);
  EXPECT_EQ(*cache.Find(Key(1), kNow), 2);
  cache.Remove(Key(1));
  EXPECT_EQ(cache.Size(), 0u);
}

TEST(ExpiringCache, TakesNoValueThatWouldDisplaceManyOthers) {
  ExpiringCache<int> cache(64 * 1024);
  cache.Put(Key(1), 1, 2000, kNow + kSecond, kNow);
  EXPECT_EQ(cache.Size(), 0u);
}

}  // namespace
}  // namespace apimesh
