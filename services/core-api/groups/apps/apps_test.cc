#include <gtest/gtest.h>

#include "services/core-api/groups/apps/daemonset/daemonset.h"
#include "services/core-api/groups/apps/deployment/deployment.h"
#include "services/core-api/groups/apps/replicaset/replicaset.h"
#include "services/core-api/groups/apps/statefulset/statefulset.h"
#include "services/core-api/groups/testing_cases.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

const NamedKindCase kCases[] = {
    {"Deployment",
     &DeploymentResource,
     R"({"spec":{"replicas":-1,"selector":{"matchLabels":{"a":"b"}},"progressDeadlineSeconds":0,
         "strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}},
         "template":{"metadata":{"labels":{"a":"c"}},"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":""}]}}}})",
     {"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
      R"(spec.template.metadata.labels: Invalid value: {"a":"c"}: `selector` does not match template `labels`)",
      "spec.template.spec.containers[0].image: Required value",
      R"(spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always")",
      "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
      "spec.progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds"}},
    {"DeploymentWithoutContainers",
     &DeploymentResource,
     R"({"spec":{"selector":{},"template":{"metadata":{"labels":{"a":"c"}},"spec":{}}}})",
     {"spec.selector: Invalid value: {}: empty selector is invalid for deployment",
      "spec.template.spec.containers: Required value"}},
    {"ReplicaSetWithoutSelector",
     &ReplicaSetResource,
     R"({"spec":{"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"a","image":"x"}]}}}})",
     {"spec.selector: Required value",
      R"(spec.template.metadata.labels: Invalid value: {"a":"c"}: `selector` does not match template `labels`)"}},
    {"DaemonSet",
     &DaemonSetResource,
     R"({"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":"x","maxUnavailable":"200%"}},
         "template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"a","image":"x"}]}}}})",
     {R"(spec.template.metadata.labels: Invalid value: {"a":"c"}: `selector` does not match template `labels`)",
      "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: \"x\": a valid percent string must be a numeric "
      "string followed by an ending "
      "'%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: \"200%\": must not be greater than 100%"}},
    {"StatefulSetMountsItsClaims",
     &StatefulSetResource,
     R"({"spec":{"serviceName":"x.y","selector":{"matchLabels":{"a":"c"}},
         "template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"a","image":"x","volumeMounts":[{"name":"v","mountPath":"/x"}]}]}},
         "volumeClaimTemplates":[
           {"metadata":{"name":"v"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}},
           {"metadata":{"name":"v"}}]}})",
     {"spec.volumeClaimTemplates[1].spec.accessModes: Required value: at least 1 access mode is required",
      "spec.volumeClaimTemplates[1].spec.resources[storage]: Required value",
      "spec.serviceName: Invalid value: \"x.y\": must not contain dots"}},
    {"DeploymentWithMalformedSelector",
     &DeploymentResource,
     R"({"spec":{"selector":{"matchLabels":{"a":"-"}},"template":{"spec":{"restartPolicy":"Never"}}}})",
     {"spec.selector.matchLabels: Invalid value: \"-\": a valid label must be an empty string or consist of "
      "alphanumeric "
      "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
      "'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      R"(spec.selector: Invalid value: {"matchLabels":{"a":"-"}}: invalid label selector)"}},
};
class AppsCreate : public ::testing::TestWithParam<NamedKindCase> {};

TEST_P(AppsCreate, Complains) { EXPECT_EQ(CreateErrors(GetParam().resource({}), GetParam().json), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, AppsCreate, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

constexpr const char* kPlain =
    R"({"metadata":{"name":"d","generation":3},"spec":{"selector":{"matchLabels":{"a":"b"}},
        "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"nginx"}]}}},"status":{"replicas":2}})";

TEST(Deployment, RollsAQuarterUnlessToldOtherwise) {
  const meta::Object object = Defaulted(DeploymentResource({}), kPlain);
  EXPECT_EQ(JsonAt(object, "spec", "strategy"),
            R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})");
  EXPECT_EQ(
      JsonAt(Defaulted(DeploymentResource({}), R"({"spec":{"strategy":{"type":"Recreate"}}})"), "spec", "strategy"),
      R"({"type":"Recreate"})");
}

TEST(Deployment, KeepsStatusAndSelectorAndCountsAnnotations) {
  const registry::Resource resource = DeploymentResource({});
  const meta::Object old = Defaulted(resource, kPlain);
  meta::Object object = old;
  object.Root()["status"] = {{"replicas", 9}};
  meta::MakeObject(object.Metadata(), "annotations")["a"] = "b";
  resource.strategy->PrepareForUpdate({}, object, old);
  EXPECT_EQ(JsonAt(object, "status"), R"({"replicas":2})");
  EXPECT_EQ(object.Generation(), 4);
  object.Root()["spec"].as_object()["selector"] = {{"matchLabels", {{"a", "b"}, {"c", "d"}}}};
  object.Root()["spec"].as_object()["template"].as_object()["metadata"] = {{"labels", {{"a", "b"}, {"c", "d"}}}};
  EXPECT_EQ(Texts(resource.strategy->ValidateUpdate({}, object, old)),
            std::vector<std::string>{
                R"(spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable)"});
}

TEST(Deployment, StatusAddsUp) {
  const registry::Resource resource = DeploymentResource({});
  const meta::Object old = Parse(R"({"status":{"collisionCount":2}})");
  const meta::Object object = Parse(R"({"status":{"replicas":1,"readyReplicas":2,"collisionCount":1}})");
  for (const registry::Subresource& subresource : resource.subresources) {
    if (subresource.name != "status") continue;
    EXPECT_EQ(
        Texts(subresource.strategy->ValidateUpdate({}, object, old)),
        (std::vector<std::string>{"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
                                  "status.collisionCount: Invalid value: 1: cannot be decremented"}));
  }
}

TEST(DaemonSet, CountsItsTemplates) {
  const registry::Resource resource = DaemonSetResource({});
  meta::Object old = Defaulted(resource, kPlain);
  EXPECT_EQ(JsonAt(old, "metadata", "annotations"), R"({"deprecated.daemonset.template.generation":"0"})");
  resource.strategy->PrepareForCreate({}, old);
  EXPECT_EQ(JsonAt(old, "metadata", "annotations"), R"({"deprecated.daemonset.template.generation":"1"})");
  meta::Object object = old;
  object.Root()["spec"].as_object()["template"].as_object()["metadata"] = {{"labels", {{"a", "b"}, {"c", "d"}}}};
  resource.strategy->PrepareForUpdate({}, object, old);
  EXPECT_EQ(JsonAt(object, "metadata", "annotations"), R"({"deprecated.daemonset.template.generation":"2"})");
}

TEST(StatefulSet, KeepsMostOfItsSpec) {
  EXPECT_TRUE(UpdateErrors(StatefulSetResource({}), kPlain, kPlain).empty());
  EXPECT_EQ(UpdateErrors(StatefulSetResource({}), kPlain,
                         R"({"spec":{"serviceName":"x","selector":{"matchLabels":{"a":"b"}},
                             "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"nginx"}]}}}})"),
            std::vector<std::string>{
                "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                "'template', 'updateStrategy', "
                "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"});
}

TEST(StatefulSet, UpdateToleratesAnInvalidTemplate) {
  constexpr const char* kInvalid =
      R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"replicas":1,"template":{"metadata":{"labels":{"a":"b"}},"spec":{}}}})";
  EXPECT_EQ(CreateErrors(StatefulSetResource({}), kInvalid),
            std::vector<std::string>{"spec.template.spec.containers: Required value"});
  EXPECT_TRUE(UpdateErrors(StatefulSetResource({}), kInvalid, kInvalid).empty());
}

TEST(StatefulSet, DefaultsARollingUpdateOnlyWithoutAType) {
  const registry::Resource resource = StatefulSetResource({});
  const auto strategy = [&resource](const char* text) {
    return JsonAt(Defaulted(resource, text), "spec", "updateStrategy");
  };
  EXPECT_EQ(strategy(R"({"spec":{}})"), R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}})");
  EXPECT_EQ(strategy(R"({"spec":{"updateStrategy":{"type":"RollingUpdate"}}})"), R"({"type":"RollingUpdate"})");
}

TEST(Apps, WarnAboutTemplates) {
  constexpr const char* kDoubtful =
      R"({"metadata":{"name":"a.b","generation":1},"spec":{"selector":{"matchLabels":{"a":"b"}},"revisionHistoryLimit":-1,
          "template":{"metadata":{"labels":{"a":"b"}},"spec":{"terminationGracePeriodSeconds":-1,"containers":[{"name":"c","image":"i"}]}},
          "volumeClaimTemplates":[{"spec":{"resources":{"requests":{"storage":"100m"}}}}]}})";
  const std::string grace =
      "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated "
      "as 1";
  const auto warnings = [&](const registry::Resource& resource, bool update) {
    const meta::Object object = Defaulted(resource, kDoubtful);
    return resource.strategy->Warnings({}, object, update ? &object : nullptr);
  };
  ASSERT_EQ(warnings(DeploymentResource({}), false).size(), 2U);
  EXPECT_TRUE(warnings(DeploymentResource({}), false)[0].starts_with("metadata.name: this is used in Pod names"));
  EXPECT_EQ(warnings(DeploymentResource({}), false)[1], grace);
  EXPECT_EQ(warnings(ReplicaSetResource({}), false).size(), 2U);
  EXPECT_EQ(warnings(DaemonSetResource({}), false), std::vector<std::string>{grace});
  EXPECT_EQ(warnings(StatefulSetResource({}), false),
            (std::vector<std::string>{grace,
                                      "spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "
                                      "\"100m\" is invalid, must be an integer",
                                      "spec.revisionHistoryLimit: a negative value retains all historical revisions; a "
                                      "value >= 0 is recommended"}));
  // The template is not reported again by an update that does not change it.
  EXPECT_TRUE(warnings(DeploymentResource({}), true).empty());
  EXPECT_TRUE(warnings(DaemonSetResource({}), true).empty());
  EXPECT_EQ(warnings(StatefulSetResource({}), true).size(), 2U);
}

TEST(Apps, Tables) {
  EXPECT_EQ(Row(DeploymentResource({}), kPlain), R"(["d","0/0",0,0,"<unknown>","c","nginx","a=b"])");
  EXPECT_EQ(Row(ReplicaSetResource({}), kPlain), R"(["d",0,2,0,"<unknown>","c","nginx","a=b"])");
  EXPECT_EQ(Row(DaemonSetResource({}), kPlain), R"(["d",0,0,0,0,0,"<none>","<unknown>","c","nginx","a=b"])");
  EXPECT_EQ(Row(StatefulSetResource({}), kPlain), R"(["d","0/0","<unknown>","c","nginx"])");
}

}  // namespace
}  // namespace apimesh::core_api
