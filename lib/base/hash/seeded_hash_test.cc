#include "lib/base/hash/seeded_hash.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(SeededHash, EqualTextsHaveEqualHashes) {
  EXPECT_EQ(SeededHash()("metadata"), SeededHash()(std::string("metadata")));
  EXPECT_EQ(SeededHash()(""), SeededHash()(""));
}

TEST(SeededHash, DifferentTextsHaveDifferentHashes) {
  std::set<std::size_t> hashes;
  std::string text;
  for (int i = 0; i < 1000; ++i) hashes.insert(SeededHash()(text += static_cast<char>('a' + i % 26)));
  for (int i = 0; i < 1000; ++i) hashes.insert(SeededHash()(std::to_string(i)));
  EXPECT_EQ(hashes.size(), 2000u);
}

}  // namespace
}  // namespace apimesh
