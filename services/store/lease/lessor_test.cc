#include "services/store/lease/lessor.h"

#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"

namespace apimesh::store {
namespace {

using std::chrono::seconds;

class LessorTest : public ::testing::Test {
 protected:
  apimesh::testing::ManualClock clock_;
  Lessor lessor_{clock_};
};

TEST_F(LessorTest, ALeaseExpiresAfterItsTtl) {
  lessor_.Grant(1, 10);
  lessor_.Grant(2, 5);
  clock_.Advance(std::chrono::milliseconds(4999));
  EXPECT_TRUE(lessor_.Expired(10).empty());
  clock_.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(lessor_.Expired(10), std::vector<LeaseId>{2});
  clock_.Advance(seconds(5));
  EXPECT_EQ(lessor_.Expired(10), (std::vector<LeaseId>{2, 1}));  // in the order of their expiry
  EXPECT_EQ(lessor_.Expired(1).size(), 1u);
}

TEST_F(LessorTest, RenewalBeginsANewTerm) {
  lessor_.Grant(1, 10);
  clock_.Advance(seconds(9));
  EXPECT_EQ(lessor_.Find(1)->remaining, 1);
  EXPECT_EQ(lessor_.Renew(1), 10);
  EXPECT_EQ(lessor_.Find(1)->remaining, 10);
  clock_.Advance(seconds(9));
  EXPECT_TRUE(lessor_.Expired(10).empty());
  EXPECT_EQ(lessor_.Renew(7), std::nullopt);
}

// The keys of an expired lease can be deleted at any moment, so the store must not report the lease as renewed.
TEST_F(LessorTest, AnExpiredLeaseCannotBeRenewed) {
  lessor_.Grant(1, 10);
  clock_.Advance(seconds(10));
  EXPECT_EQ(lessor_.Renew(1), std::nullopt);
  EXPECT_EQ(lessor_.Find(1)->remaining, 0);
}

TEST_F(LessorTest, ARestartRenewsAllLeases) {
  lessor_.Grant(1, 10);
  lessor_.Grant(2, 20);
  clock_.Advance(seconds(60));
  lessor_.RenewAll();
  EXPECT_TRUE(lessor_.Expired(10).empty());
  EXPECT_EQ(lessor_.All(), (std::vector<LeaseId>{1, 2}));
}

TEST_F(LessorTest, KnowsTheKeysOfALease) {
  lessor_.Grant(1, 10);
  lessor_.Attach(1, "b");
  lessor_.Attach(1, "a");
  lessor_.Attach(9, "a");  // the lease does not exist
  lessor_.Detach(1, "b");
  EXPECT_EQ(*lessor_.Find(1)->keys, (std::set<std::string, std::less<>>{"a"}));
  lessor_.Revoke(1);
  EXPECT_FALSE(lessor_.Exists(1));
  EXPECT_TRUE(lessor_.All().empty());
}

}  // namespace
}  // namespace apimesh::store
