#include "lib/admission/plugins/always_pull_images/always_pull_images.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

std::string Pod(const std::string& spec) { return fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{{}}}}})", spec); }
Write Updates(const std::string& spec, const std::string& old) {
  return {
      .operation = Operation::kUpdate, .resource = "pods", .name = "p", .object = Pod(spec), .old_object = Pod(old)};
}
const char kNever[] = R"("containers":[{"name":"c","image":"a","imagePullPolicy":"Never"}])";
const char kOther[] = R"("containers":[{"name":"c","image":"b","imagePullPolicy":"Never"}])";

class PullPolicies : public ::testing::TestWithParam<PluginCase> {};
TEST_P(PullPolicies, AreAlways) { Check(*MakeAlwaysPullImages({}), GetParam()); }

const PluginCase kCases[] = {
    {"Container",
     {.resource = "pods", .object = Pod(kNever)},
     "",
     R"({"spec":{"containers":[{"name":"c","image":"a","imagePullPolicy":"Always"}]}})"},
    {"NoPolicy",
     {.resource = "pods", .object = Pod(R"("containers":[{"name":"c"}])")},
     "",
     R"({"spec":{"containers":[{"name":"c","imagePullPolicy":"Always"}]}})"},
    {"InitContainer",
     {.resource = "pods", .object = Pod(R"("initContainers":[{"name":"c"}])")},
     "",
     R"({"spec":{"initContainers":[{"name":"c","imagePullPolicy":"Always"}]}})"},
    {"EphemeralContainer",
     {.resource = "pods", .object = Pod(R"("ephemeralContainers":[{"name":"c"}])")},
     "",
     R"({"spec":{"ephemeralContainers":[{"name":"c","imagePullPolicy":"Always"}]}})"},
    {"ImageVolume",
     {.resource = "pods", .object = Pod(R"("volumes":[{"image":{"pullPolicy":"Never"}},{"emptyDir":{}}])")},
     "",
     R"({"spec":{"volumes":[{"image":{"pullPolicy":"Always"}},{"emptyDir":{}}]}})"},
    {"NewImage", Updates(kOther, kNever), "",
     R"({"spec":{"containers":[{"name":"c","image":"b","imagePullPolicy":"Always"}]}})"},
    {"SameImage", Updates(kNever, kNever), "",
     R"({"spec":{"containers":[{"name":"c","image":"a","imagePullPolicy":"Never"}]}})"},
    {"Subresource",
     {.operation = Operation::kUpdate, .resource = "pods/status", .object = Pod(kNever)},
     "",
     R"({"spec":{"containers":[{"name":"c","image":"a","imagePullPolicy":"Never"}]}})"},
    {"OtherKind",
     {.resource = "deployments.apps", .object = Pod(kNever)},
     "",
     R"({"spec":{"containers":[{"name":"c","image":"a","imagePullPolicy":"Never"}]}})"},
};
INSTANTIATE_TEST_SUITE_P(Table, PullPolicies, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

/// What a later plugin changes is refused, so only the second phase runs here.
std::string Validates(const std::string& spec) {
  meta::Object pod = Parse(Pod(spec));
  Attributes attributes;
  attributes.resource = {"", "v1", "pods"};
  attributes.object = &pod;
  const meta::Result<> result = testing::RunTask(MakeAlwaysPullImages({})->Validate({}, attributes));
  return result ? "" : fmt::format("{} {}", result.error().Code(), result.error().Message());
}

TEST(AlwaysPullImages, RefusesOtherPolicies) {
  const std::string refused =
      R"(500 pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: )"
      R"("Always")";
  EXPECT_EQ(Validates(kNever), refused);
  EXPECT_EQ(Validates(R"("containers":[{"imagePullPolicy":"Always"}])"), "");
  EXPECT_EQ(
      Validates(R"("volumes":[{"emptyDir":{}},{"image":{"pullPolicy":"IfNotPresent"}}])"),
      R"(500 pods "p" is forbidden: spec.volumes[1].image.pullPolicy: Unsupported value: "IfNotPresent": supported )"
      R"(values: "Always")");
  EXPECT_THAT(Validates(R"("initContainers":[{"name":"i"}],"containers":[{"imagePullPolicy":"Never"}])"),
              ::testing::StartsWith(R"(500 [pods "p" is forbidden: spec.initContainers[0].imagePullPolicy)"));
}

}  // namespace
}  // namespace apimesh::admission
