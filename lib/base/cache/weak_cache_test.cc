#include "lib/base/cache/weak_cache.h"

#include <string>

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(WeakCache, FindsWhatIsInUse) {
  WeakCache<std::string, int> cache;
  EXPECT_EQ(cache.Find("a"), nullptr);
  auto one = std::make_shared<const int>(1);
  cache.Add("a", one);
  EXPECT_EQ(cache.Find("a"), one);
  one.reset();
  EXPECT_EQ(cache.Find("a"), nullptr);
  const auto two = std::make_shared<const int>(2);
  cache.Add("a", two);
  EXPECT_EQ(cache.Find("a"), two);
}

TEST(WeakCache, KeepsWhatIsInUseWhileItRemovesTheRest) {
  WeakCache<int, int> cache;
  const auto kept = std::make_shared<const int>(7);
  cache.Add(-1, kept);
  for (int i = 0; i < 10'000; ++i) cache.Add(i, std::make_shared<const int>(i));
  EXPECT_EQ(cache.Find(-1), kept);
  EXPECT_EQ(cache.Find(9'999), nullptr);
}

}  // namespace
}  // namespace apimesh
