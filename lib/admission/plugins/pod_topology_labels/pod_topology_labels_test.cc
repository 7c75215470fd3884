#include "lib/admission/plugins/pod_topology_labels/pod_topology_labels.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

class TopologyLabels : public ::testing::TestWithParam<PluginCase> {};
TEST_P(TopologyLabels, OfNodes) {
  TestCluster cluster;
  cluster.Put({"", "nodes"}, "n", R"({"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z",
    "topology.kubernetes.io/region":"r","topology.kubernetes.io/rack":"k","a":"b"}}})");
  cluster.Put({"", "nodes"}, "bare", R"({"metadata":{"name":"bare"}})");
  Check(*MakePodTopologyLabels(cluster.Inputs()), GetParam());
}

const char kBoth[] = R"({"metadata":{"labels":{"topology.kubernetes.io/zone":"z","topology.kubernetes.io/region":"r",
  "topology.kubernetes.io/rack":null,"a":null}}})";
const char kNone[] = R"({"metadata":null})";
const PluginCase kCases[] = {
    {"Pod", {.resource = "pods", .object = R"({"spec":{"nodeName":"n"}})"}, "", kBoth},
    {"Binding", {.resource = "pods/binding", .object = R"({"target":{"kind":"Node","name":"n"}})"}, "", kBoth},
    {"Overwrites",
     {.resource = "pods",
      .object = R"({"metadata":{"labels":{"topology.kubernetes.io/zone":"x","mine":"1"}},"spec":{"nodeName":"n"}})"},
     "",
     R"({"metadata":{"labels":{"topology.kubernetes.io/zone":"z","mine":"1"}}})"},
    {"NoNode", {.resource = "pods", .object = R"({"spec":{}})"}, "", kNone},
    {"MissingNode", {.resource = "pods", .object = R"({"spec":{"nodeName":"gone"}})"}, "", kNone},
    {"NodeWithoutLabels", {.resource = "pods", .object = R"({"spec":{"nodeName":"bare"}})"}, "", kNone},
    {"OtherTarget", {.resource = "pods/binding", .object = R"({"target":{"kind":"Pod","name":"n"}})"}, "", kNone},
    {"Update",
     {.operation = Operation::kUpdate, .resource = "pods", .object = R"({"spec":{"nodeName":"n"}})"},
     "",
     kNone},
    {"Bindings", {.resource = "bindings", .object = R"({"target":{"kind":"Node","name":"n"}})"}, "", kNone},
};
INSTANTIATE_TEST_SUITE_P(Table, TopologyLabels, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST(TopologyLabelsGate, AreNotCopiedWithoutTheFeature) {
  TestCluster cluster;
  cluster.features = features::FeatureGates(std::vector<std::string>{"PodTopologyLabelsAdmission=false"});
  const std::unique_ptr<Plugin> plugin = MakePodTopologyLabels(cluster.Inputs());
  EXPECT_FALSE(TestCluster::Run(*plugin, {.resource = "pods", .object = R"({"spec":{"nodeName":"n"}})"}).asked);
}

}  // namespace
}  // namespace apimesh::admission
