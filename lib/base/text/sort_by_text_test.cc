#include "lib/base/text/sort_by_text.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(SortByText, OrdersLikeTheTexts) {
  std::mt19937 random(1);
  for (const std::string prefix : {"", "p", "a long common prefix"}) {
    for (const std::size_t count : {0, 1, 5, 1000}) {
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < count; ++i) {
        std::string text = prefix;
        for (std::size_t n = random() % 12; n > 0; --n) text += "ab\0\xff"[random() % 4];
        texts.push_back(text);
      }
      std::vector<std::string_view> views(texts.begin(), texts.end());
      SortByText(views, [](std::string_view text) { return text; });
      std::vector<std::string> expected = texts;
      std::sort(expected.begin(), expected.end());
      EXPECT_TRUE(std::equal(views.begin(), views.end(), expected.begin(), expected.end()));
    }
  }
}

}  // namespace
}  // namespace apimesh
