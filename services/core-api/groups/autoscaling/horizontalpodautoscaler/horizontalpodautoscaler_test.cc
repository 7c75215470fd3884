#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/horizontalpodautoscaler.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/conversion.h"
#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

#define METRICS "autoscaling.alpha.kubernetes.io/metrics"
#define CURRENT "autoscaling.alpha.kubernetes.io/current-metrics"
#define BEHAVIOR "autoscaling.alpha.kubernetes.io/behavior"
#define CONDITIONS "autoscaling.alpha.kubernetes.io/conditions"

std::string AnnotationOf(const meta::Object& object, std::string_view name) {
  const meta::json::string* text = object.Annotation(name);
  return text ? std::string(*text) : "";
}

struct MetricCase {
  const char* name;
  const char* v2;
  const char* v1;  // JSON of the annotation
  bool measured = false;
};
// The texts are those that kube-apiserver v1.36 writes for the same metrics.
const MetricCase kMetrics[] = {
    {"Memory",
     R"({"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}})",
     R"({"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}})"},
    {"CpuWithoutPercentage",
     R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"AverageValue","averageValue":"500m"}}})",
     R"({"type":"Resource","resource":{"name":"cpu","targetAverageValue":"500m"}})"},
    {"Pods",
     R"({"type":"Pods","pods":{"metric":{"name":"m","selector":{"matchLabels":{"a":"b"}}},"target":{"type":"AverageValue","averageValue":"5"}}})",
     R"({"type":"Pods","pods":{"metricName":"m","targetAverageValue":"5","selector":{"matchLabels":{"a":"b"}}}})"},
    {"ObjectValue",
     R"({"type":"Object","object":{"describedObject":{"kind":"Ingress","name":"i","apiVersion":"networking.k8s.io/v1"},"target":{"type":"Value","value":"2k"},"metric":{"name":"m"}}})",
     R"({"type":"Object","object":{"target":{"kind":"Ingress","name":"i","apiVersion":"networking.k8s.io/v1"},"metricName":"m","targetValue":"2k"}})"},
    {"ObjectAverage",
     R"({"type":"Object","object":{"describedObject":{"kind":"Service","name":"i"},"target":{"type":"AverageValue","averageValue":"3"},"metric":{"name":"m"}}})",
     R"({"type":"Object","object":{"target":{"kind":"Service","name":"i"},"metricName":"m","targetValue":"0","averageValue":"3"}})"},
    {"ExternalValue",
     R"({"type":"External","external":{"metric":{"name":"q","selector":{"matchLabels":{"a":"b"}}},"target":{"type":"Value","value":"30"}}})",
     R"({"type":"External","external":{"metricName":"q","metricSelector":{"matchLabels":{"a":"b"}},"targetValue":"30"}})"},
    {"ExternalAverage",
     R"({"type":"External","external":{"metric":{"name":"q"},"target":{"type":"AverageValue","averageValue":"30"}}})",
     R"({"type":"External","external":{"metricName":"q","targetAverageValue":"30"}})"},
    {"Container",
     R"({"type":"ContainerResource","containerResource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60},"container":"c"}})",
     R"({"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":60,"container":"c"}})"},
    {"MeasuredResource",
     R"({"type":"Resource","resource":{"name":"cpu","current":{"averageValue":"200m","averageUtilization":20}}})",
     R"({"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":20,"currentAverageValue":"200m"}})",
     true},
    {"MeasuredPods", R"({"type":"Pods","pods":{"metric":{"name":"m"},"current":{"averageValue":"7"}}})",
     R"({"type":"Pods","pods":{"metricName":"m","currentAverageValue":"7"}})", true},
    {"MeasuredObject",
     R"({"type":"Object","object":{"metric":{"name":"m"},"current":{"value":"1","averageValue":"2"},"describedObject":{"kind":"K","name":"n"}}})",
     R"({"type":"Object","object":{"target":{"kind":"K","name":"n"},"metricName":"m","currentValue":"1","averageValue":"2"}})",
     true},
    {"MeasuredExternal",
     R"({"type":"External","external":{"metric":{"name":"q"},"current":{"value":"1","averageValue":"2"}}})",
     R"({"type":"External","external":{"metricName":"q","currentValue":"1","currentAverageValue":"2"}})", true},
    {"MeasuredContainer",
     R"({"type":"ContainerResource","containerResource":{"name":"cpu","current":{"averageValue":"1","averageUtilization":3},"container":"c"}})",
     R"({"type":"ContainerResource","containerResource":{"name":"cpu","currentAverageUtilization":3,"currentAverageValue":"1","container":"c"}})",
     true},
};
class HpaMetric : public ::testing::TestWithParam<MetricCase> {};

TEST_P(HpaMetric, GoesThereAndBack) {
  const MetricCase& test = GetParam();
  const char* part = test.measured ? "status" : "spec";
  const char* field = test.measured ? "currentMetrics" : "metrics";
  meta::Object object = Parse(std::string("{\"") + part + "\":{\"" + field + "\":[" + test.v2 + "]}}");
  HpaToV1(object.Root());
  EXPECT_EQ(AnnotationOf(object, test.measured ? CURRENT : METRICS), std::string("[") + test.v1 + "]");
  EXPECT_EQ(JsonAt(object, part, field), "");
  HpaToV2(object.Root());
  EXPECT_EQ(JsonAt(object, part, field), std::string("[") + test.v2 + "]");
  EXPECT_EQ(JsonAt(object, "metadata", "annotations"), "");
}
INSTANTIATE_TEST_SUITE_P(Table, HpaMetric, ::testing::ValuesIn(kMetrics),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Hpa, CpuIsAFieldOfV1) {
  meta::Object object =
      Parse(R"({"spec":{"targetCPUUtilizationPercentage":50},"status":{"currentCPUUtilizationPercentage":40}})");
  HpaToV2(object.Root());
  EXPECT_EQ(
      JsonAt(object, "spec"),
      R"({"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]})");
  EXPECT_EQ(
      JsonAt(object, "status"),
      R"({"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":40}}}]})");
  HpaToV1(object.Root());
  EXPECT_EQ(JsonAt(object, "spec"), R"({"targetCPUUtilizationPercentage":50})");
  EXPECT_EQ(JsonAt(object, "status"), R"({"currentCPUUtilizationPercentage":40})");
  EXPECT_EQ(AnnotationOf(object, METRICS), "");
  EXPECT_EQ(
      AnnotationOf(object, CURRENT),
      R"([{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":40,"currentAverageValue":"0"}}])");
}

TEST(Hpa, BehaviorTravelsUnderGoNames) {
  meta::Object object = Parse(
      R"({"spec":{"behavior":{"scaleDown":{"policies":[{"type":"Pods","value":1,"periodSeconds":60}],"tolerance":"50m"}}}})");
  HpaToV1(object.Root());
  EXPECT_EQ(
      AnnotationOf(object, BEHAVIOR),
      R"({"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":null,"Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":60}],"Tolerance":"50m"}})");
  HpaToV2(object.Root());
  EXPECT_EQ(JsonAt(object, "spec", "behavior"),
            R"({"scaleDown":{"policies":[{"type":"Pods","value":1,"periodSeconds":60}],"tolerance":"50m"}})");
}

TEST(Hpa, AnnotationsThatMakeNoSenseCountAsNone) {
  for (const char* bad : {"nonsense", "{}", R"([{\"type\":5}])", R"([{\"type\":\"Pods\",\"pods\":7}])", R"([7])"}) {
    meta::Object object =
        Parse(std::string(R"({"metadata":{"annotations":{"keep":"me",")" METRICS "\":\"") + bad +
              R"(",")" BEHAVIOR R"(":"[]",")" CURRENT "\":\"" + bad + R"(",")" CONDITIONS R"(":"7"}},"spec":{}})");
    HpaToV2(object.Root());
    EXPECT_EQ(
        JsonAt(object, "spec"),
        R"({"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]})")
        << bad;
    EXPECT_EQ(JsonAt(object, "status"), "") << bad;
    EXPECT_EQ(JsonAt(object, "metadata", "annotations"), R"({"keep":"me"})") << bad;
  }
}

TEST(Hpa, V1SaysWhatIsImplied) {
  EXPECT_EQ(JsonAt(Defaulted(HorizontalPodAutoscalerV1Resource({}), R"({"spec":{"maxReplicas":3}})"), "spec",
                   "targetCPUUtilizationPercentage"),
            "80");
}

TEST(Hpa, V2FillsABehavior) {
  EXPECT_EQ(JsonAt(Defaulted(HorizontalPodAutoscalerV2Resource({}),
                             R"({"spec":{"behavior":{"scaleDown":{"selectPolicy":"Min"}}}})"),
                   "spec", "behavior", "scaleDown"),
            R"({"selectPolicy":"Min","policies":[{"type":"Percent","value":100,"periodSeconds":15}]})");
  const meta::Object object = Defaulted(HorizontalPodAutoscalerV2Resource({}), R"({"spec":{"behavior":{}}})");
  EXPECT_EQ(JsonAt(object, "spec", "behavior", "scaleUp", "policies"),
            R"([{"type":"Pods","value":4,"periodSeconds":15},{"type":"Percent","value":100,"periodSeconds":15}])");
  EXPECT_EQ(JsonAt(object, "spec", "behavior", "scaleUp", "stabilizationWindowSeconds"), "0");
  EXPECT_EQ(JsonAt(object, "spec", "behavior", "scaleDown", "stabilizationWindowSeconds"), "");
}

TEST(Hpa, AnUpdateByV1KeepsTheStatusInItsAnnotations) {
  const registry::Resource resource = HorizontalPodAutoscalerV1Resource({});
  meta::Object old = Parse(
      R"({"spec":{"metrics":[]},"status":{"conditions":[{"type":"AbleToScale","status":"True","message":"a<b"}]}})");
  resource.from_stored(old.Root());
  const std::string conditions = AnnotationOf(old, CONDITIONS);
  EXPECT_EQ(conditions, R"([{"type":"AbleToScale","status":"True","lastTransitionTime":null,"message":"a\u003cb"}])");
  meta::Object updated = Defaulted(resource, R"({"spec":{"targetCPUUtilizationPercentage":7}})");
  resource.strategy->PrepareForUpdate({}, updated, old);
  EXPECT_EQ(AnnotationOf(updated, CONDITIONS), conditions);
  EXPECT_EQ(JsonAt(updated, "spec", "targetCPUUtilizationPercentage"), "7");
}

TEST(Hpa, AStatusUpdateByV1KeepsTheSpecInItsAnnotations) {
  const registry::Resource resource = HorizontalPodAutoscalerV1Resource({});
  meta::Object old = Parse(
      R"({"spec":{"metrics":[{"type":"External","external":{"metric":{"name":"q"},"target":{"type":"Value","value":"1"}}}]}})");
  resource.from_stored(old.Root());
  ASSERT_NE(AnnotationOf(old, METRICS), "");
  meta::Object updated =
      Defaulted(resource, R"({"metadata":{"annotations":{"a":"b"}},"spec":{},"status":{"currentReplicas":3}})");
  resource.subresources.front().strategy->PrepareForUpdate({}, updated, old);
  EXPECT_EQ(AnnotationOf(updated, METRICS), AnnotationOf(old, METRICS));
  EXPECT_EQ(AnnotationOf(updated, "a"), "b");
  EXPECT_EQ(JsonAt(updated, "status", "currentReplicas"), "3");
  EXPECT_EQ(JsonAt(updated, "spec", "targetCPUUtilizationPercentage"), "");
}

TEST(Hpa, OwnersOfOtherVersionsAreUnderstood) {
  const meta::Object object = Parse(
      R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","spec":{"targetCPUUtilizationPercentage":5}})");
  const auto v2 = ConvertHpa(object, "autoscaling/v2");
  ASSERT_TRUE(v2);
  EXPECT_EQ(v2->object.ApiVersion(), "autoscaling/v2");
  EXPECT_EQ(JsonAt(v2->object, "spec", "targetCPUUtilizationPercentage"), "");
  EXPECT_FALSE(ConvertHpa(object, "autoscaling/v2beta2"));
}

}  // namespace
}  // namespace apimesh::core_api
