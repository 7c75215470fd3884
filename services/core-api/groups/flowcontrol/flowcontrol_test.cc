#include <gtest/gtest.h>

#include "services/core-api/groups/flowcontrol/flowschema/flowschema.h"
#include "services/core-api/groups/flowcontrol/prioritylevelconfiguration/prioritylevelconfiguration.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const NamedKindCase kCases[] = {
    {"Schema",
     &FlowSchemaResource,
     R"({"metadata":{"name":"a"},"spec":{"priorityLevelConfiguration":{"name":"x"}}})",
     {}},
    {"SchemaRules",
     &FlowSchemaResource,
     R"({"metadata":{"name":"a"},"spec":{"matchingPrecedence":1,"distinguisherMethod":{"type":"X"},
         "rules":[{"subjects":[{"kind":"User","group":{"name":"g"}}],"nonResourceRules":[{"verbs":["*","get"],"nonResourceURLs":["a"]}]}]}})",
     {"spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
      R"(spec.distinguisherMethod.type: Unsupported value: {"Type":"X"}: supported values: "ByNamespace", "ByUser")",
      "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
      "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
      "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
      R"(spec.rules[0].nonResourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs)",
      R"(spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash)"}},
    {"MandatorySchema",
     &FlowSchemaResource,
     R"({"metadata":{"name":"exempt"},"spec":{"matchingPrecedence":1,"priorityLevelConfiguration":{"name":"exempt"}}})",
     {R"(spec: Invalid value: {"matchingPrecedence":1,"priorityLevelConfiguration":{"name":"exempt"}}: spec of 'exempt' must equal the fixed value)"}},
    {"Level",
     &PriorityLevelConfigurationResource,
     R"({"metadata":{"name":"a"},"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue","queuing":{}}}}})",
     {}},
    {"Queues",
     &PriorityLevelConfigurationResource,
     R"({"metadata":{"name":"a"},"spec":{"type":"Limited","limited":{"lendablePercent":101,"limitResponse":{"type":"Queue","queuing":{"queues":512}}}}})",
     {"spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 512 and "
      "handSize "
      "8 should not be greater than 60",
      "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive"}},
    {"Exempt",
     &PriorityLevelConfigurationResource,
     R"({"metadata":{"name":"a"},"spec":{"type":"Exempt"}})",
     {"spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"}},
    {"MandatoryLevelMayChangeItsShares",
     &PriorityLevelConfigurationResource,
     R"({"metadata":{"name":"exempt"},"spec":{"type":"Exempt","exempt":{"nominalConcurrencyShares":5}}})",
     {}},
};
class FlowControlCreate : public ::testing::TestWithParam<NamedKindCase> {};

TEST_P(FlowControlCreate, Complains) {
  EXPECT_EQ(CreateErrors(GetParam().resource({}), GetParam().json), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, FlowControlCreate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FlowControl, ZeroMeansDefault) {
  EXPECT_EQ(
      JsonAt(Defaulted(FlowSchemaResource({}), R"({"spec":{"matchingPrecedence":0}})"), "spec", "matchingPrecedence"),
      "1000");
  EXPECT_EQ(JsonAt(Defaulted(PriorityLevelConfigurationResource({}),
                             R"({"spec":{"limited":{"limitResponse":{"queuing":{"queues":0}}}}})"),
                   "spec", "limited", "limitResponse", "queuing", "queues"),
            "64");
}

TEST(FlowControl, Rows) {
  EXPECT_EQ(Row(FlowSchemaResource({}), R"({"metadata":{"name":"a"},"spec":{"matchingPrecedence":7}})"),
            R"(["a","",7,"<none>","<unknown>","?"])");
  EXPECT_EQ(Row(PriorityLevelConfigurationResource({}),
                R"({"metadata":{"name":"a"},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":3}}})"),
            R"(["a","Limited",3,"<none>","<none>","<none>","<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
