#include "lib/storage/etcd_store/lease_pool.h"

#include <set>

#include <gtest/gtest.h>

#include "lib/testing/fake_etcd.h"
#include "lib/testing/manual_clock.h"
#include "lib/testing/run.h"

namespace apimesh::storage {
namespace {

using std::chrono::seconds;

class LeasePoolTest : public ::testing::Test {
 protected:
  std::set<std::int64_t> Leases(LeasePool& pool, seconds ttl, int objects) {
    std::set<std::int64_t> leases;
    for (int i = 0; i < objects; ++i) {
      const auto lease = testing::RunTask(pool.Lease(etcd_, ttl, SteadyTime::max()));
      if (lease) leases.insert(*lease);
    }
    return leases;
  }
  testing::FakeEtcd etcd_;
  testing::ManualClock clock_;
};

TEST_F(LeasePoolTest, SharesALeaseAmongAThousandObjects) {
  LeasePool pool(seconds(60), clock_);
  EXPECT_EQ(Leases(pool, seconds(3600), 1000).size(), 1u);
  EXPECT_EQ(Leases(pool, seconds(3600), 1000).size(), 1u);
  EXPECT_EQ(Leases(pool, seconds(3600), 1).count(2), 0u);
}

TEST_F(LeasePoolTest, LifetimesDoNotMix) {
  LeasePool pool(seconds(60), clock_);
  EXPECT_NE(Leases(pool, seconds(3600), 2), Leases(pool, seconds(600), 2));
}

TEST_F(LeasePoolTest, WithoutReuseEachObjectHasItsOwn) {
  LeasePool none(seconds(0), clock_), less_than_none(seconds(-5), clock_);
  EXPECT_EQ(Leases(none, seconds(3600), 5).size(), 5u);
  EXPECT_EQ(Leases(less_than_none, seconds(3600), 5).size(), 5u);
}

TEST_F(LeasePoolTest, IsOpenForAFewPerCentOfTheLifetimeAtMost) {
  LeasePool pool(seconds(3600), clock_);
  EXPECT_EQ(Leases(pool, seconds(10), 5).size(), 5u);  // 5 % of it is less than a second
}

TEST_F(LeasePoolTest, IsReusedUntilItWouldEndTooEarly) {
  LeasePool pool(seconds(60), clock_);
  const std::set<std::int64_t> first = Leases(pool, seconds(1000), 1);
  clock_.Advance(seconds(49));
  EXPECT_EQ(Leases(pool, seconds(1000), 1), first);
  clock_.Advance(seconds(1));  // 5 % of the lifetime have passed
  EXPECT_NE(Leases(pool, seconds(1000), 1), first);
}

}  // namespace
}  // namespace apimesh::storage
