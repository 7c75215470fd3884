#include "services/core-api/groups/coordination/lease/lease.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

TEST(Lease, DurationIsPositiveAndTransitionsAreNotNegative) {
  const Strings errors = {"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
                          "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"};
  const char kWrong[] = R"({"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1,"strategy":"x"}})";
  EXPECT_EQ(CreateErrors(LeaseResource({}), kWrong), errors);
  EXPECT_EQ(UpdateErrors(LeaseResource({}), "{}", kWrong), errors);
}

TEST(Lease, TheSpecIsOptional) {
  EXPECT_EQ(CreateErrors(LeaseResource({}), "{}"), Strings());
  EXPECT_EQ(CreateErrors(LeaseResource({}), R"({"spec":{"leaseDurationSeconds":1,"leaseTransitions":0}})"), Strings());
}

TEST(Lease, APutMayCreateOneAndNeedsAResourceVersionToUpdateOne) {
  const registry::Resource resource = LeaseResource({});
  EXPECT_TRUE(resource.strategy->AllowCreateOnUpdate());
  EXPECT_FALSE(resource.strategy->AllowUnconditionalUpdate());
}

TEST(Lease, Table) {
  EXPECT_EQ(Row(LeaseResource({}), R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}})"),
            R"(["l","me","<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
