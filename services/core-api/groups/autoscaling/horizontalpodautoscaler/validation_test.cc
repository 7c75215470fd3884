#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/validation.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/horizontalpodautoscaler.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

#define TARGET R"("scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"})"

const NamedKindCase kCases[] = {
    {"Plain", &HorizontalPodAutoscalerV2Resource, R"({"spec":{"maxReplicas":1,)" TARGET "}}", {}},
    {"Replicas",
     &HorizontalPodAutoscalerV1Resource,
     R"({"spec":{"minReplicas":10,"maxReplicas":1,"targetCPUUtilizationPercentage":0,)" TARGET "}}",
     {"spec.maxReplicas: Invalid value: 1: must be greater than or equal to `minReplicas`",
      "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0"}},
    {"Reference",
     &HorizontalPodAutoscalerV2Resource,
     R"({"spec":{"scaleTargetRef":{"kind":"Deployment","name":"a/b"}}})",
     {"spec.maxReplicas: Required value: must be set and greater than 0",
      "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
      "spec.scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'",
      "spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify API group"}},
    {"Metric",
     &HorizontalPodAutoscalerV2Resource,
     R"({"spec":{"maxReplicas":1,"metrics":[{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"Value","value":"-1"}}},{"type":"Object"}],)" TARGET
     "}}",
     {"spec.metrics[0].pods.target.value: Invalid value: \"-1\": must be positive",
      "spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue",
      "spec.metrics[1].object: Required value: must populate information for the given metric source"}},
    {"Behavior",
     &HorizontalPodAutoscalerV2Resource,
     R"({"spec":{"maxReplicas":1,"behavior":{"scaleUp":{"selectPolicy":"","policies":[{"type":"Pods","value":0,"periodSeconds":1801}]}},)" TARGET
     "}}",
     {R"(spec.behavior.scaleUp.selectPolicy: Unsupported value: "": supported values: "Disabled", "Max", "Min")",
      "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
      "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800"}},
};
class HpaCreate : public ::testing::TestWithParam<NamedKindCase> {};

TEST_P(HpaCreate, Complains) { EXPECT_EQ(CreateErrors(GetParam().resource({}), GetParam().json), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, HpaCreate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Hpa, UpdatesKeepAnOldReference) {
  constexpr const char* kOld = R"({"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"Deployment","name":"d"}}})";
  EXPECT_TRUE(UpdateErrors(HorizontalPodAutoscalerV2Resource({}), kOld, kOld).empty());
}

TEST(Hpa, Rows) {
  EXPECT_EQ(Row(HorizontalPodAutoscalerV2Resource({}),
                R"({"metadata":{"name":"h"},"spec":{"minReplicas":1,"maxReplicas":3,)" TARGET
                R"(,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80}}},
                   {"type":"Pods","pods":{"target":{"averageValue":"5"}}},{"type":"Nope"}]},
                   "status":{"currentReplicas":2,"currentMetrics":[{"resource":{"current":{"averageUtilization":7}}}]}})"),
            R"(["h","Deployment/d","cpu: 7%/80%, <unknown>/5 + 1 more...","1",3,2,"<unknown>"])");
  EXPECT_EQ(Row(HorizontalPodAutoscalerV1Resource({}),
                R"({"metadata":{"name":"h"},"spec":{"maxReplicas":3,"targetCPUUtilizationPercentage":50,)" TARGET "}}"),
            R"(["h","Deployment/d","cpu: <unknown>/50%","<unset>",3,0,"<unknown>"])");
}

}  // namespace
}  // namespace apimesh::core_api
