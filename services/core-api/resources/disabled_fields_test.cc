#include "services/core-api/resources/disabled_fields.h"

#include <gtest/gtest.h>

#include "lib/registry/testing_kind.h"

namespace apimesh::core_api {
namespace {

const FeatureField kFields[] = {
    {"Signals", "core.Lifecycle", "stopSignal", true},
    {"Bundles", "core.VolumeProjection", "clusterTrustBundle"},
    {"Restarts", "core.Container", "restartPolicy"},
    {"Restarts", "core.Container", "restartPolicyRules"},
    {"Rules", "core.PodSpec", "hostname", false, "", "kept"},
    {"Phases", "core.EphemeralContainer", "image", false, "ephemeralContainers"},
    {"Pulls", "core.Container", "imagePullPolicy", false, "initContainers", "Always"},
    {"Requests", "resource.CapacityRequestPolicy", "default"},
};

DisabledFields FieldsOf(const meta::Gvk& kind) {
  static DisabledFieldFinder finder({std::begin(kFields), std::end(kFields)});
  return finder.Find(*schema::Builtin().FindKind(kind));
}

meta::Object WithSpec(const std::string& spec) { return registry::TestObject(R"("name":"a")", R"(,"spec":)" + spec); }

std::string Dropped(const meta::Gvk& kind, const std::string& spec, const char* old_spec) {
  meta::Object object = WithSpec(spec);
  if (old_spec) {
    const meta::Object old = WithSpec(old_spec);
    FieldsOf(kind).Drop(object, &old);
  } else {
    FieldsOf(kind).Drop(object, nullptr);
  }
  return registry::Text(*meta::FindField(object.Root(), "spec"));
}

TEST(DisabledFields, AreDroppedUnlessTheOldObjectUsesTheFeature) {
  const meta::Gvk pod{"", "v1", "Pod"}, slice{"resource.k8s.io", "v1", "ResourceSlice"};
  const struct {
    meta::Gvk kind;
    const char* spec;
    const char* old_spec;
    const char* want;
  } cases[] = {
      {pod, R"({"containers":[{"name":"a"}]})", nullptr, R"({"containers":[{"name":"a"}]})"},
      {pod,
       R"({"containers":[{"lifecycle":{"stopSignal":"SIGINT"}},{"lifecycle":{"stopSignal":"SIGINT","preStop":{}}}]})",
       nullptr, R"({"containers":[{},{"lifecycle":{"preStop":{}}}]})"},
      {pod, R"({"containers":[{"lifecycle":{}}],"initContainers":[{"lifecycle":{"stopSignal":"SIGINT"}}]})", nullptr,
       R"({"containers":[{"lifecycle":{}}],"initContainers":[{}]})"},
      {pod, R"({"containers":[{"lifecycle":{"stopSignal":"SIGINT"}}]})",
       R"({"initContainers":[{"lifecycle":{"stopSignal":"SIGHUP"}}]})",
       R"({"containers":[{"lifecycle":{"stopSignal":"SIGINT"}}]})"},
      {pod, R"({"volumes":[{"projected":{"sources":[{"clusterTrustBundle":{"path":"a"}},{"secret":{}}]}}]})", "{}",
       R"({"volumes":[{"projected":{"sources":[{},{"secret":{}}]}}]})"},
      {pod, R"({"containers":[{"restartPolicy":"Never","restartPolicyRules":[]}]})",
       R"({"containers":[{"restartPolicy":"Never"}]})",
       R"({"containers":[{"restartPolicy":"Never","restartPolicyRules":[]}]})"},
      {pod, R"({"hostname":"kept"})", nullptr, R"({"hostname":"kept"})"},
      {pod, R"({"hostname":"other"})", R"({"hostname":"kept"})", R"({})"},
      {pod, R"({"hostname":"other"})", R"({"hostname":"used"})", R"({"hostname":"other"})"},
      {pod, R"({"containers":[{"imagePullPolicy":"Never"}],"initContainers":[{"imagePullPolicy":"Never"},
                {"imagePullPolicy":"Always"}]})",
       nullptr, R"({"containers":[{"imagePullPolicy":"Never"}],"initContainers":[{},{"imagePullPolicy":"Always"}]})"},
      {pod, R"({"ephemeralContainers":[{"name":"e","image":"i"}]})", nullptr,
       R"({"ephemeralContainers":[{"name":"e"}]})"},
      {{"apps", "v1", "Deployment"},
       R"({"template":{"spec":{"containers":[{"lifecycle":{"stopSignal":"SIGINT"}}]}}})",
       nullptr,
       R"({"template":{"spec":{"containers":[{}]}}})"},
      {slice, R"({"devices":[{"capacity":{"a":{"requestPolicy":{"default":"1","x":2}},"b":{}}}]})", nullptr,
       R"({"devices":[{"capacity":{"a":{"requestPolicy":{"x":2}},"b":{}}}]})"},
  };
  for (const auto& c : cases) EXPECT_EQ(Dropped(c.kind, c.spec, c.old_spec), c.want) << c.spec;
}

TEST(DisabledFields, AreEmptyForOtherKinds) {
  EXPECT_TRUE(FieldsOf({"", "v1", "ConfigMap"}).Empty());
  EXPECT_FALSE(FieldsOf({"batch", "v1", "CronJob"}).Empty());
}

}  // namespace
}  // namespace apimesh::core_api
