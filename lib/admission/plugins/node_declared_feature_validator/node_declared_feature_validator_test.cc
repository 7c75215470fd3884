#include "lib/admission/plugins/node_declared_feature_validator/node_declared_feature_validator.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

std::string Pod(int generation, const std::string& node, const std::string& spec) {
  return fmt::format(R"({{"metadata":{{"name":"p","generation":{}}},"spec":{{"nodeName":"{}"{}}}}})", generation, node,
                     spec);
}
const std::string kPodLevel = R"(,"resources":{"requests":{"cpu":"1"}})";
const std::string kInit = R"(,"initContainers":[{"name":"i","resources":{"requests":{"cpu":"1"}}}])";
const std::string kOldInit = R"(,"initContainers":[{"name":"i"}])";
const std::string kSidecar =
    R"(,"initContainers":[{"name":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}])";
const std::string kOldSidecar = R"(,"initContainers":[{"name":"i","restartPolicy":"Always"}])";

Write Resizes(const std::string& node, const std::string& spec, const std::string& old, int generation = 2,
              const std::string& resource = "pods/resize") {
  return {.operation = Operation::kUpdate,
          .resource = resource,
          .name = "p",
          .object = Pod(generation, node, spec),
          .old_object = Pod(1, node, old)};
}
std::string Lacks(const std::string& features, const std::string& node) {
  return fmt::format(
      R"(403 pods "p" is forbidden: pod update requires features {} which are not available on node "{}")", features,
      node);
}
const std::string kLevelFeature = "InPlacePodLevelResourcesVerticalScaling";
const std::string kInitFeature = "InPlacePodVerticalScalingInitContainers";

class DeclaredFeatures : public ::testing::TestWithParam<PluginCase> {};
TEST_P(DeclaredFeatures, AreRequired) {
  TestCluster cluster;
  cluster.Put({"", "nodes"}, "all",
              fmt::format(R"({{"metadata":{{"name":"all"}},"status":{{"declaredFeatures":["{}","{}"]}}}})",
                          kLevelFeature, kInitFeature));
  cluster.Put({"", "nodes"}, "some",
              fmt::format(R"({{"metadata":{{"name":"some"}},"status":{{"declaredFeatures":["{}"]}}}})", kLevelFeature));
  cluster.Put({"", "nodes"}, "none", R"({"metadata":{"name":"none"}})");
  Check(*MakeNodeDeclaredFeatureValidator(cluster.Inputs()), GetParam());
}

const PluginCase kCases[] = {
    {"Nothing", Resizes("none", "", ""), ""},
    {"PodLevel", Resizes("all", kPodLevel, ""), ""},
    {"PodLevelOfSome", Resizes("some", kPodLevel, ""), ""},
    {"Init", Resizes("all", kInit, kOldInit), ""},
    {"Sidecar", Resizes("none", kSidecar, kOldSidecar), ""},
    {"SameGeneration", Resizes("none", kPodLevel, "", 1), ""},
    {"Unscheduled", Resizes("", kPodLevel, ""), ""},
    {"Status", Resizes("none", kPodLevel, "", 2, "pods/status"), ""},
    {"Unchanged", Resizes("none", kPodLevel + kInit, kPodLevel + kInit), ""},
    {"NoPodLevel", Resizes("none", kPodLevel, ""), Lacks(kLevelFeature, "none")},
    {"NoInit", Resizes("none", kInit, kOldInit), Lacks(kInitFeature, "none")},
    {"NoInitOfSome", Resizes("some", kInit, kOldInit), Lacks(kInitFeature, "some")},
    {"BothMissing", Resizes("none", kPodLevel + kInit, kOldInit), Lacks(kLevelFeature + ", " + kInitFeature, "none")},
    {"OneOfBothMissing", Resizes("some", kPodLevel + kInit, kOldInit), Lacks(kInitFeature, "some")},
    {"RemovedPodLevel", Resizes("none", "", kPodLevel), Lacks(kLevelFeature, "none")},
    {"Plain", Resizes("none", kPodLevel, "", 2, "pods"), Lacks(kLevelFeature, "none")},
    {"MissingNode", Resizes("gone", kPodLevel, ""), R"(403 pods "p" is forbidden: node "gone" not found)"},
};
INSTANTIATE_TEST_SUITE_P(Table, DeclaredFeatures, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST(DeclaredFeaturesGate, AreNotRequiredWithoutTheFeature) {
  TestCluster cluster;
  cluster.features = features::FeatureGates(std::vector<std::string>{"NodeDeclaredFeatures=false"});
  cluster.Put({"", "nodes"}, "none", R"({"metadata":{"name":"none"}})");
  const std::unique_ptr<Plugin> plugin = MakeNodeDeclaredFeatureValidator(cluster.Inputs());
  EXPECT_FALSE(TestCluster::Run(*plugin, Resizes("none", kPodLevel, "")).asked);
}

}  // namespace
}  // namespace apimesh::admission
