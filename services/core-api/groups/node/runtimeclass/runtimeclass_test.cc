#include "services/core-api/groups/node/runtimeclass/runtimeclass.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const NamedCase kCases[] = {
    {"Plain", R"({"handler":"h","overhead":{"podFixed":{"cpu":"5m"}}})", {}},
    {"NoHandler", "{}", {"handler: Required value"}},
    {"Overhead",
     R"({"handler":"h","overhead":{"podFixed":{"hugepages-2Mi":"2Mi"}}})",
     {"overhead: Forbidden: HugePages require cpu or memory"}},
    {"TwiceTolerated",
     R"({"handler":"h","scheduling":{"tolerations":[{"key":"a","operator":"Exists"},{"key":"a","operator":"Exists"}]}})",
     {R"(scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null})"}},
};
class RuntimeClassCreate : public ::testing::TestWithParam<NamedCase> {};

TEST_P(RuntimeClassCreate, Complains) {
  EXPECT_EQ(CreateErrors(RuntimeClassResource({}), GetParam().json), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, RuntimeClassCreate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RuntimeClass, KeepsItsHandlerAndWarns) {
  const registry::Resource resource = RuntimeClassResource({});
  EXPECT_EQ(UpdateErrors(resource, R"({"handler":"h"})", R"({"handler":"i"})"),
            std::vector<std::string>{R"(handler: Invalid value: "i": field is immutable)"});
  const meta::Object old_labels = Parse(R"({"scheduling":{"nodeSelector":{"beta.kubernetes.io/os":"linux","a":"b"}}})");
  EXPECT_EQ(
      resource.strategy->Warnings({}, old_labels, nullptr),
      std::vector<std::string>{R"(scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead)"});
}

}  // namespace
}  // namespace apimesh::core_api
