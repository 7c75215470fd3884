#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "lib/codec/stored_form.h"
#include "lib/schema/builtin.h"
#include "lib/schema/defaults.h"

namespace apimesh::codec {
namespace {

std::string Normalised(std::string_view definition, std::string_view text, Strictness* strict = nullptr,
                       bool defaults = false) {
  const schema::Node* node = schema::Builtin().Find(definition);
  auto value = ParseJson(text, meta::NewArena(), strict);
  if (!node || !value) return "bad test";
  const auto result = Normalise(value->get_object(), *node, strict);
  if (!result) return "error: " + result.error().Message();
  if (defaults) schema::ApplyDefaults(value->get_object(), *node);
  return WriteJson(*value);
}

constexpr char kPod[] = "io.k8s.api.core.v1.Pod";
constexpr char kConfigMap[] = "io.k8s.api.core.v1.ConfigMap";
constexpr char kService[] = "io.k8s.api.core.v1.Service";

TEST(Normalise, GivesTheFormOfTheGoType) {
  EXPECT_EQ(
      Normalised(
          kConfigMap,
          R"({"data":{"b":"1","a":"2"},"metadata":{"name":"x","labels":{},"generation":0},"apiVersion":"v1","kind":"ConfigMap"})"),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"data":{"a":"2","b":"1"}})");
  EXPECT_EQ(Normalised(kService, R"({"spec":{"ports":[{"port":80}]}})"),
            R"({"metadata":{},"spec":{"ports":[{"port":80,"targetPort":0}]},"status":{"loadBalancer":{}}})");
  EXPECT_EQ(Normalised("io.k8s.api.rbac.v1.ClusterRole", R"({"metadata":null})"), R"({"metadata":{},"rules":null})");
  EXPECT_EQ(Normalised("io.k8s.api.apps.v1.ControllerRevision", "{}"), R"({"metadata":{},"data":null,"revision":0})");
  EXPECT_EQ(Normalised("io.k8s.api.apps.v1.DeploymentSpec", R"({"replicas":0,"paused":false,"minReadySeconds":0})"),
            R"({"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}})");
}

TEST(Normalise, StoredObjectsHaveNoEmptyLists) {
  const auto normalised = [](std::string_view definition, std::string_view text) {
    auto value = ParseJson(text, meta::NewArena());
    if (!NormaliseForStore(value->get_object(), *schema::Builtin().Find(definition))) return std::string("error");
    return WriteJson(*value);
  };
  EXPECT_EQ(Normalised("io.k8s.api.rbac.v1.ClusterRole", R"({"rules":[]})"), R"({"metadata":{},"rules":[]})");
  EXPECT_EQ(normalised("io.k8s.api.rbac.v1.ClusterRole", R"({"rules":[]})"), R"({"metadata":{},"rules":null})");
  EXPECT_EQ(normalised("io.k8s.api.rbac.v1.ClusterRole", R"({"rules":[{"verbs":[]}]})"),
            R"({"metadata":{},"rules":[{"verbs":null}]})");
  EXPECT_EQ(normalised("io.k8s.api.apps.v1.ControllerRevision", R"({"revision":0})"),
            R"({"metadata":{},"data":null,"revision":0})");
}

TEST(Normalise, BringsScalarsIntoTheirCanonicalForm) {
  EXPECT_EQ(
      Normalised("io.k8s.api.core.v1.ResourceRequirements", R"({"limits":{"memory":"1024Mi","cpu":0.5,"a":null}})"),
      R"({"limits":{"a":"0","cpu":"500m","memory":"1Gi"}})");
  EXPECT_EQ(
      Normalised("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
                 R"({"creationTimestamp":"2026-01-02T03:04:05.999+01:00","deletionTimestamp":"9999-12-31T23:59:59Z"})"),
      R"({"creationTimestamp":"2026-01-02T02:04:05Z","deletionTimestamp":"9999-12-31T23:59:59Z"})");
  EXPECT_EQ(Normalised("io.k8s.api.coordination.v1.LeaseSpec", R"({"renewTime":"2026-01-02T03:04:05.123456Z"})"),
            R"({"renewTime":"2026-01-02T03:04:05.123456Z"})");
}

TEST(Normalise, ReportsUnknownFields) {
  Strictness strict;
  EXPECT_EQ(
      Normalised(kPod,
                 R"({"foo":1,"metadata":{"Name":"x"},"spec":{"containers":[{"name":"a"},{"name":"b","bar":{}}]}})",
                 &strict),
      R"({"metadata":{},"spec":{"containers":[{"name":"a","resources":{}},{"name":"b","resources":{}}]},"status":{}})");
  EXPECT_EQ(strict.complaints, (std::vector<std::string>{R"(unknown field "foo")", R"(unknown field "metadata.Name")",
                                                         R"(unknown field "spec.containers[1].bar")"}));
}

// Every text here is a response of kube-apiserver v1.36.3.
TEST(Normalise, HasTheReferencesTypeErrors) {
  const struct {
    const char* definition;
    const char* text;
    const char* error;
  } cases[] = {
      {kConfigMap, R"({"data":{"a":1}})",
       "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"},
      {kConfigMap, R"({"metadata":{"name":5}})",
       "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"},
      {kConfigMap, R"({"metadata":"x"})",
       "json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"},
      {kConfigMap, R"({"data":["a"]})",
       "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string"},
      {kConfigMap, R"({"binaryData":{"a":"%%"}})", "illegal base64 data at input byte 0"},
      {kConfigMap, R"({"immutable":"yes"})",
       "json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool"},
      {kConfigMap, R"({"metadata":{"generation":1.5}})",
       "json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64"},
      {kConfigMap, R"({"metadata":{"creationTimestamp":"foo"}})",
       R"(parsing time "foo" as "2006-01-02T15:04:05Z07:00": cannot parse "foo" as "2006")"},
      {kConfigMap, R"({"metadata":{"creationTimestamp":5}})",
       "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string"},
      {kConfigMap, R"({"metadata":{"ownerReferences":[{"name":5}]}})",
       "json: cannot unmarshal number into Go struct field OwnerReference.metadata.ownerReferences.name of type "
       "string"},
      {kService, R"({"spec":{"ports":[{"port":"x"}]}})",
       "json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32"},
      {kService, R"({"spec":{"ports":[{"port":3000000000}]}})",
       "json: cannot unmarshal number 3000000000 into Go struct field ServicePort.spec.ports.port of type int32"},
      {kService, R"({"spec":{"ports":[{"port":1,"targetPort":true}]}})",
       "json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type int32"},
      {kService, R"({"spec":{"ports":[{"port":1,"protocol":5}]}})",
       "json: cannot unmarshal number into Go struct field ServicePort.spec.ports.protocol of type v1.Protocol"},
      {kPod, R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"foo"}}}]}})",
       "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {kPod, R"({"spec":{"containers":{"name":"a"}}})",
       "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container"},
      {kPod, R"({"spec":{"volumes":[{"hostPath":"x"}]}})",
       "json: cannot unmarshal string into Go struct field Volume.spec.volumes.VolumeSource.hostPath of type "
       "v1.HostPathVolumeSource"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(Normalised(one.definition, one.text), std::string("error: ") + one.error) << one.text;
}

TEST(Normalise, LeavesNormalFormAlone) {
  const std::string once = Normalised(
      kPod,
      R"({"spec":{"containers":[{"name":"a","image":"b","env":[{"name":"x"}]}],"volumes":[{"name":"v","emptyDir":{}}]}})");
  EXPECT_EQ(Normalised(kPod, once), once);
}

TEST(Defaults, FillWhatIsUnsetAndKeepTheOrder) {
  EXPECT_EQ(
      Normalised("io.k8s.api.core.v1.Container",
                 R"({"name":"a","ports":[{"containerPort":1}],"livenessProbe":{"timeoutSeconds":0}})", nullptr, true),
      R"({"name":"a","ports":[{"containerPort":1,"protocol":"TCP"}],"resources":{},"livenessProbe":{"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"})");
}

TEST(Normalise, RefusesWhatGrowsTooLarge) {
  std::string containers = "{}";
  for (int i = 0; i < 200'000; ++i) containers += ",{}";
  EXPECT_EQ(Normalised(kPod, R"({"spec":{"containers":[)" + containers + "]}}"),
            "error: Request entity too large: etcdserver: request is too large");
}

}  // namespace
}  // namespace apimesh::codec
