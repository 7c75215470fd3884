#include "services/core-api/groups/policy/poddisruptionbudget/poddisruptionbudget.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing_cases.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const NamedCase kCases[] = {
    {"Empty", R"({"spec":{}})", {}},
    {"Both",
     R"({"spec":{"minAvailable":1,"maxUnavailable":"10%"}})",
     {R"(spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"10%","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set)"}},
    {"TooMany",
     R"({"spec":{"minAvailable":"101%","unhealthyPodEvictionPolicy":""}})",
     {R"(spec.minAvailable: Invalid value: "101%": must not be greater than 100%)",
      R"(spec.unhealthyPodEvictionPolicy: Unsupported value: "": supported values: "AlwaysAllow", "IfHealthyBudget")"}},
};
class BudgetCreate : public ::testing::TestWithParam<NamedCase> {};

TEST_P(BudgetCreate, Complains) {
  EXPECT_EQ(CreateErrors(PodDisruptionBudgetResource({}), GetParam().json), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, BudgetCreate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Budget, StatusHasConditions) {
  registry::Resource resource = PodDisruptionBudgetResource({});
  const meta::Object object = Parse(
      R"({"status":{"disruptionsAllowed":-1,"conditions":[{"type":"A","status":"Maybe","reason":"1","lastTransitionTime":"2020-01-01T00:00:00Z"}]}})");
  const std::vector<std::string> texts =
      Texts(SubresourceOf(resource, "status").strategy->ValidateUpdate({}, object, object));
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0],
            R"(status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown")");
  EXPECT_EQ(texts[2], "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0");
}

TEST(Budget, Row) {
  EXPECT_EQ(Row(PodDisruptionBudgetResource({}), R"({"metadata":{"name":"b"},"spec":{"minAvailable":3}})"),
            R"(["b","3","N/A",0,"<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
