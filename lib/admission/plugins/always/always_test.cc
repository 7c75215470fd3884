#include "lib/admission/plugins/always/always.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

const Write kCreate{.resource = "configmaps", .object = R"({"metadata":{"name":"a"}})"};

TEST(AlwaysAdmit, ChangesAndRefusesNothing) {
  const Outcome outcome = TestCluster::Run(*MakeAlwaysAdmit({}), kCreate);
  EXPECT_FALSE(outcome.asked);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.Json(), kCreate.object);
}

TEST(AlwaysDeny, RefusesEveryOperation) {
  Write write = kCreate;
  write.name = "a";
  for (const Operation operation : {Operation::kCreate, Operation::kUpdate, Operation::kDelete, Operation::kConnect}) {
    write.operation = operation;
    EXPECT_EQ(TestCluster::Run(*MakeAlwaysDeny({}), write).error,
              R"(403 configmaps "a" is forbidden: admission control is denying all modifications)")
        << ToString(operation);
  }
}

}  // namespace
}  // namespace apimesh::admission
