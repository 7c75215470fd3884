#include "services/aggregator/fairness/queuing/allocation.h"

#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/aggregator/fairness/queuing/seat_demand.h"

namespace apimesh::aggregator {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(Allocate, GivesEqualProportionsWithoutLimits) {
  const AllocationClass classes[] = {{0, 1000, 10}, {0, 1000, 30}};
  const auto allocation = Allocate(80, classes);
  ASSERT_TRUE(allocation);
  EXPECT_THAT(allocation->seats, ElementsAre(DoubleNear(20, 1e-6), DoubleNear(60, 1e-6)));
  EXPECT_NEAR(allocation->fair_proportion, 2, 1e-9);
}

TEST(Allocate, KeepsLimits) {
  const AllocationClass classes[] = {{0, 15, 10}, {40, 1000, 40}, {0, 1000, 20}};
  const auto allocation = Allocate(65, classes);
  ASSERT_TRUE(allocation);
  EXPECT_THAT(allocation->seats,
              ElementsAre(DoubleNear(25.0 / 3, 1e-6), DoubleNear(40, 1e-6), DoubleNear(50.0 / 3, 1e-6)));
}

TEST(Allocate, RefusesTotalsOutsideOfTheLimits) {
  const AllocationClass classes[] = {{5, 10, 7}};
  EXPECT_FALSE(Allocate(4, classes));
  EXPECT_FALSE(Allocate(11, classes));
  EXPECT_FALSE(Allocate(4, {}));
  EXPECT_TRUE(Allocate(5, classes));
  EXPECT_TRUE(Allocate(10, classes));
}

TEST(Allocate, AlwaysReachesTheTotal) {
  std::mt19937 random(7);
  const auto pick = [&](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<AllocationClass> classes(1 + random() % 8);
    double low = 0, high = 0;
    for (AllocationClass& one : classes) {
      one.lower = random() % 3 == 0 ? 0 : pick(20);
      one.upper = one.lower + pick(50);
      one.target = one.lower + pick(40);
      low += one.lower;
      high += one.upper;
    }
    const double total = low + pick(high - low);
    const auto allocation = Allocate(total, classes);
    ASSERT_TRUE(allocation) << round;
    EXPECT_NEAR(std::accumulate(allocation->seats.begin(), allocation->seats.end(), 0.0), total, 1e-4) << round;
  }
}

TEST(SeatDemand, HasAverageDeviationAndMaximum) {
  const SteadyTime start{};
  SeatDemand demand(start);
  demand.Set(4, start);
  demand.Set(0, start + std::chrono::seconds(1));
  const SeatDemand::Period period = demand.Take(start + std::chrono::seconds(2));
  EXPECT_DOUBLE_EQ(period.average, 2);
  EXPECT_DOUBLE_EQ(period.deviation, 2);
  EXPECT_DOUBLE_EQ(period.highest, 4);
  EXPECT_TRUE(demand.Take(start + std::chrono::seconds(2)).empty);
}

TEST(SmoothedDemand, RisesAtOnceAndFallsSlowly) {
  SmoothedDemand demand;
  demand.Update({.average = 10, .deviation = 2, .highest = 15, .empty = false});
  EXPECT_DOUBLE_EQ(demand.smoothed, 12);
  EXPECT_EQ(demand.high_watermark, 15);
  demand.Update({.average = 0, .deviation = 0, .highest = 0, .empty = false});
  EXPECT_NEAR(demand.smoothed, 12 * 0.977, 1e-9);
}

}  // namespace
}  // namespace apimesh::aggregator
