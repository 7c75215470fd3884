#include "services/aggregator/fairness/queuing/dealer.h"

#include <set>

#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

TEST(Dealer, DealsDistinctQueues) {
  const Dealer dealer(64, 8);
  for (std::uint64_t hash = 1; hash != 0; hash <<= 1) {
    int hand[Dealer::kMaxHandSize];
    ASSERT_EQ(dealer.Deal(hash * 0x9E3779B97F4A7C15, hand), 8);
    const std::set<int> distinct(hand, hand + 8);
    EXPECT_EQ(distinct.size(), 8u);
    EXPECT_GE(*distinct.begin(), 0);
    EXPECT_LT(*distinct.rbegin(), 64);
  }
}

TEST(Dealer, ReachesEveryHand) {
  const Dealer dealer(5, 3);
  std::set<std::set<int>> hands;
  for (std::uint64_t hash = 0; hash < 5 * 4 * 3; ++hash) {
    int hand[Dealer::kMaxHandSize];
    dealer.Deal(hash, hand);
    hands.emplace(hand, hand + 3);
  }
  EXPECT_EQ(hands.size(), 10u);  // 5 over 3
}

TEST(Dealer, DealsAllQueuesIfTheHandHasAsMany) {
  int hand[Dealer::kMaxHandSize];
  ASSERT_EQ(Dealer(3, 3).Deal(12345, hand), 3);
  EXPECT_EQ(std::set<int>(hand, hand + 3), (std::set<int>{0, 1, 2}));
}

}  // namespace
}  // namespace apimesh::aggregator
