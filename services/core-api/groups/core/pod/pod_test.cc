#include "services/core-api/groups/core/pod/pod.h"

#include <gtest/gtest.h>

#include "services/core-api/groups/testing.h"

namespace apimesh::core_api {
namespace {

using namespace testing;  // NOLINT: the folder's own

TEST(Pod, NeedsAContainer) {
  EXPECT_EQ(CreateErrors(PodResource({}), R"({"spec":{}})"),
            std::vector<std::string>{"spec.containers: Required value"});
}

// The messages are those of kube-apiserver v1.36 for the same object.
TEST(Pod, ComplainsAboutEverythingAtOnce) {
  const char* json = R"({"metadata":{"name":"p"},"spec":{"restartPolicy":"X",
    "volumes":[{"name":"v","secret":{"secretName":""}},{"name":"v","emptyDir":{}},{"name":"w","emptyDir":{},"hostPath":{"path":"/x"}}],
    "containers":[{"name":"a","image":" x","ports":[{"containerPort":0},{"containerPort":80,"name":"p"},{"containerPort":80,"name":"p"}],
      "volumeMounts":[{"name":"none","mountPath":"/a"}],"env":[{"name":"1=","value":"b"}],
      "resources":{"limits":{"cpu":"1"},"requests":{"cpu":"2"}},"livenessProbe":{"httpGet":{"port":0},"timeoutSeconds":-1}},
     {"name":"a","image":"x","imagePullPolicy":"Y"}],
    "tolerations":[{"operator":"Exists","value":"x"}]}})";
  const std::vector<std::string> want = {
      "spec.volumes[0].secret.secretName: Required value",
      "spec.volumes[2].hostPath: Forbidden: may not specify more than 1 volume type",
      "spec.containers[0].ports[0].containerPort: Required value",
      "spec.containers[0].ports[2].name: Duplicate value: \"p\"",
      "spec.containers[0].env[0].name: Invalid value: \"1=\": a valid environment variable name must consist only of "
      "printable ASCII "
      "characters other than '='",
      "spec.containers[0].volumeMounts[0].name: Not found: \"none\"",
      "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1",
      "spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive",
      "spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: -1: must be greater than or equal to 0",
      "spec.containers[1].imagePullPolicy: Unsupported value: \"Y\": supported values: \"Always\", \"IfNotPresent\", "
      "\"Never\"",
      "spec.containers[1].name: Duplicate value: \"a\"",
      "spec.restartPolicy: Unsupported value: \"X\": supported values: \"Always\", \"OnFailure\", \"Never\"",
      "spec.tolerations[0].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'",
      "spec.containers[0].image: Invalid value: \" x\": must not have leading or trailing whitespace"};
  EXPECT_EQ(CreateErrors(PodResource({}), json), want);
}

constexpr const char* kPlain =
    R"({"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"a","image":"x:1","resources":{"limits":{"cpu":"1"}}}]}})";

TEST(Pod, Defaults) {
  const registry::Resource resource = PodResource({});
  meta::Object pod = Defaulted(resource, kPlain);
  resource.strategy->PrepareForCreate({}, pod);
  EXPECT_EQ(JsonAt(pod, "status"), R"({"phase":"Pending","qosClass":"Burstable"})");
  const meta::json::object& container = meta::Find(pod.Root(), "spec", "containers")->as_array()[0].as_object();
  EXPECT_EQ(meta::FindString(container, "imagePullPolicy"), "IfNotPresent");
  EXPECT_EQ(meta::FindString(container, "resources", "requests", "cpu"), "1");
  EXPECT_EQ(JsonAt(pod, "spec", "enableServiceLinks"), "true");
}

TEST(Pod, ChecksTheMetadataOnceMoreInUpdates) {
  const std::vector<std::string> errors = UpdateErrors(
      PodResource({}), kPlain,
      R"({"metadata":{"name":"p","labels":{"a b":"c"}},"spec":{"nodeName":"n","containers":[{"name":"a","image":"x:1","resources":{"limits":{"cpu":"1"}}}]}})");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(errors[0].starts_with("metadata.labels: Invalid value: \"a b\"")) << errors[0];
}

TEST(Pod, OnlyTheImageChanges) {
  EXPECT_TRUE(UpdateErrors(PodResource({}), kPlain, R"({"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[
      {"name":"a","image":"x:2","resources":{"limits":{"cpu":"1"}}}]}})")
                  .empty());
  const std::vector<std::string> errors =
      UpdateErrors(PodResource({}), kPlain, R"({"metadata":{"name":"p"},"spec":{"nodeName":"m","containers":[
      {"name":"a","image":"x:1","resources":{"limits":{"cpu":"1"}}}]}})");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(
      errors[0].starts_with("spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"))
      << errors[0];
}

TEST(Pod, IsGivenTimeToEndOnlyWhereItRuns) {
  const registry::Resource resource = PodResource({});
  EXPECT_EQ(resource.strategy->GracePeriod(Defaulted(resource, kPlain), std::nullopt), 30);
  EXPECT_EQ(resource.strategy->GracePeriod(Defaulted(resource, kPlain), 5), 5);
  EXPECT_EQ(resource.strategy->GracePeriod(Defaulted(resource, R"({"spec":{}})"), std::nullopt), 0);
}

TEST(Pod, TableShowsWhatHoldsItUp) {
  EXPECT_EQ(
      Row(PodResource({}), R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"}]},"status":{"phase":"Pending",
      "containerStatuses":[{"restartCount":2,"state":{"waiting":{"reason":"ImagePullBackOff"}}}]}})"),
      R"(["p","0/1","ImagePullBackOff","2","<unknown>","<none>","<none>","<none>","<none>"])");
}

}  // namespace
}  // namespace apimesh::core_api
