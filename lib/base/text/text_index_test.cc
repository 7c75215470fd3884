#include "lib/base/text/text_index.h"

#include <deque>
#include <string>

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(TextIndex, FindsTheFirstOfEqualTexts) {
  std::deque<std::string> texts;
  TextIndex index;
  for (std::size_t i = 0; i < 5000; ++i) {  // covers both the linear and the hashed search
    texts.push_back(std::to_string(i));
    EXPECT_FALSE(index.Contains(texts.back()));
    const TextIndex::Added added = index.Add(texts.back());
    EXPECT_TRUE(added.is_new);
    EXPECT_EQ(added.position, i);
    const TextIndex::Added again = index.Add(std::to_string(i / 2));
    EXPECT_FALSE(again.is_new);
    EXPECT_EQ(again.position, i / 2);
    EXPECT_EQ(index.Find(texts.back()), i);
  }
  EXPECT_EQ(index.size(), 5000u);
  EXPECT_EQ(index.Find("5000"), std::nullopt);
}

TEST(TextIndex, TakesTheEmptyText) {
  TextIndex index;
  EXPECT_FALSE(index.Contains(""));
  EXPECT_TRUE(index.Add("").is_new);
  EXPECT_FALSE(index.Add("").is_new);
}

}  // namespace
}  // namespace apimesh
