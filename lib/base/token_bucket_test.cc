#include "lib/base/token_bucket.h"

#include <gtest/gtest.h>

namespace apimesh {
namespace {

using namespace std::chrono_literals;
constexpr SteadyTime kStart{1h};

int TakeAll(TokenBucket& bucket, SteadyTime now) {
  int taken = 0;
  while (taken < 10'000 && bucket.Take(now)) ++taken;
  return taken;
}

TEST(TokenBucket, AllowsABurstAndThenOnePerInterval) {
  TokenBucket bucket(32, 1s);
  EXPECT_EQ(TakeAll(bucket, kStart), 32);
  EXPECT_EQ(TakeAll(bucket, kStart + 999ms), 0);
  EXPECT_EQ(TakeAll(bucket, kStart + 1500ms), 1);
  EXPECT_EQ(TakeAll(bucket, kStart + 2000ms), 1) << "half an interval was left over";
  EXPECT_EQ(TakeAll(bucket, kStart + 1h), 32) << "no more than a burst is saved up";
}

TEST(TokenBucket, OnePerIntervalGoesOnForever) {
  TokenBucket bucket(2, 1s);
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(bucket.Take(kStart + i * 1s)) << i;
}

}  // namespace
}  // namespace apimesh
