#include "services/core-api/groups/scheduling/priorityclass/priorityclass.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const NamedCase kCases[] = {
    {"Plain", R"({"metadata":{"name":"a"},"value":1000000000})", {}},
    {"TooHigh",
     R"({"metadata":{"name":"a"},"value":1000000001,"preemptionPolicy":"Nope"})",
     {"value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
      R"(preemptionPolicy: Unsupported value: "Nope": supported values: "PreemptLowerPriority", "Never")"}},
    {"System", R"({"metadata":{"name":"system-node-critical"},"value":2000001000})", {}},
    {"WrongSystem",
     R"({"metadata":{"name":"system-node-critical"},"value":5})",
     {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "
      "value of system-node-critical PriorityClass must be 2000001000"}},
};
class PriorityClassCreate : public ::testing::TestWithParam<NamedCase> {};

TEST_P(PriorityClassCreate, Complains) {
  EXPECT_EQ(CreateErrors(PriorityClassResource({}), GetParam().json), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, PriorityClassCreate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PriorityClass, IsImmutable) {
  EXPECT_EQ(UpdateErrors(PriorityClassResource({}), R"({"value":1})", R"({"value":2,"preemptionPolicy":"Never"})"),
            (std::vector<std::string>{"value: Forbidden: may not be changed in an update.",
                                      R"(preemptionPolicy: Invalid value: "Never": field is immutable)"}));
}

TEST(PriorityClass, SystemClassesCannotBeDeleted) {
  const registry::Resource resource = PriorityClassResource({});
  EXPECT_TRUE(resource.strategy->CheckDelete(Parse(R"({"metadata":{"name":"a"}})")));
  EXPECT_FALSE(resource.strategy->CheckDelete(Parse(R"({"metadata":{"name":"system-cluster-critical"}})")));
}

TEST(PriorityClass, Row) {
  EXPECT_EQ(Row(PriorityClassResource({}), R"({"metadata":{"name":"a"},"value":5,"preemptionPolicy":"Never"})"),
            R"(["a",5,false,"<unknown>","Never"])");
}

}  // namespace
}  // namespace apimesh::core_api
