#include "lib/admission/plugins/node_restriction/test_cluster.h"

namespace apimesh::admission::node_restriction {
namespace {

/// Returns the node n1 with these fields in its metadata and spec.
std::string Node(const std::string& metadata, const std::string& spec = "") {
  return fmt::format(R"({{"metadata":{{"name":"n1"{}{}}},"spec":{{{}}}}})", metadata.empty() ? "" : ",", metadata,
                     spec);
}
std::string Labels(const std::string& labels) { return Node(R"("labels":{)" + labels + "}"); }

const std::string kRefused = R"(403 nodes "n1" is forbidden: )";

struct Case {
  const char* name;
  Write write;
  std::string want;
};

Case Create(const char* name, std::string object, std::string want) {
  return {name, {.resource = "nodes", .name = "n1", .object = std::move(object), .ns = ""}, std::move(want)};
}
Case Update(const char* name, std::string old, std::string object, std::string want, const char* resource = "nodes") {
  return {name,
          {.operation = Operation::kUpdate,
           .resource = resource,
           .name = "n1",
           .object = std::move(object),
           .old_object = std::move(old),
           .ns = ""},
          std::move(want)};
}

const std::string kTaint = R"("taints":[{"key":"a","effect":"NoSchedule"}])";
const std::string kOwner = R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}])";
const std::string kSource = R"("configSource":{"configMap":{"name":"c","namespace":"ns","kubeletConfigKey":"k"}})";

const Case kCases[] = {
    Create("CreatesItself", Node(""), ""),
    Create("CreatesItselfWithTaints", Node("", kTaint), ""),
    {"CreatesAnother",
     {.resource = "nodes", .name = "n2", .object = R"({"metadata":{"name":"n2"}})", .ns = ""},
     R"(403 nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2")"},
    Create("CreatesWithConfigSource", Node("", kSource),
           kRefused + R"(node "n1" is not allowed to create pods with a non-nil configSource)"),
    Create("CreatesWithEmptyConfigSource", Node("", R"("configSource":{})"),
           kRefused + R"(node "n1" is not allowed to create pods with a non-nil configSource)"),
    Create(
        "CreatesWithKubeletLabels",
        Labels(
            R"("kubernetes.io/hostname":"a","kubernetes.io/os":"a","kubernetes.io/arch":"a","beta.kubernetes.io/os":"a",
                     "beta.kubernetes.io/arch":"a","topology.kubernetes.io/zone":"a","topology.kubernetes.io/region":"a",
                     "failure-domain.beta.kubernetes.io/zone":"a","failure-domain.beta.kubernetes.io/region":"a",
                     "beta.kubernetes.io/instance-type":"a","node.kubernetes.io/instance-type":"a")"),
        ""),
    Create(
        "CreatesWithLabelsOfKubeletNamespaces",
        Labels(
            R"("kubelet.kubernetes.io/a":"1","x.kubelet.kubernetes.io/a":"1","node.kubernetes.io/b":"1","x.node.kubernetes.io/b":"1")"),
        ""),
    Create("CreatesWithOtherLabels",
           Labels(R"("foo":"1","example.com/foo":"1","notkubernetes.io/foo":"1","xk8s.io/foo":"1")"), ""),
    Create(
        "CreatesWithRestrictionLabels",
        Labels(R"("x.node-restriction.kubernetes.io/b":"1","node-restriction.kubernetes.io/a":"1")"),
        kRefused +
            R"(node "n1" is not allowed to set the following labels: node-restriction.kubernetes.io/a, x.node-restriction.kubernetes.io/b)"),
    Create(
        "CreatesWithKubernetesLabels",
        Labels(R"("kubernetes.io/a":"1","x.kubernetes.io/a":"1","k8s.io/a":"1","x.k8s.io/a":"1")"),
        kRefused +
            R"(node "n1" is not allowed to set the following labels: k8s.io/a, kubernetes.io/a, x.k8s.io/a, x.kubernetes.io/a)"),
    Create("CreatesWithRoleLabel", Labels(R"("node-role.kubernetes.io/control-plane":"")"),
           kRefused + R"(node "n1" is not allowed to set the following labels: node-role.kubernetes.io/control-plane)"),

    Update("ChangesNothing", Node("", kTaint), Node("", kTaint), ""),
    Update("ChangesAnnotations", Node(""), Node(R"("annotations":{"a":"b"})"), ""),
    Update("AddsTaint", Node(""), Node("", kTaint), kRefused + R"(node "n1" is not allowed to modify taints)"),
    Update("RemovesTaint", Node("", kTaint), Node(""), kRefused + R"(node "n1" is not allowed to modify taints)"),
    Update("EmptyTaintsAreNoTaints", Node(""), Node("", R"("taints":[])"), ""),
    Update("RemovesTaintThroughStatus", Node("", kTaint), Node(""),
           kRefused + R"(node "n1" is not allowed to modify taints)", "nodes/status"),
    Update("AddsOwner", Node(""), Node(kOwner), kRefused + R"(node "n1" is not allowed to modify ownerReferences)"),
    Update("RemovesOwner", Node(kOwner), Node(""), kRefused + R"(node "n1" is not allowed to modify ownerReferences)"),
    Update("AddsOwnerThroughStatus", Node(""), Node(kOwner),
           kRefused + R"(node "n1" is not allowed to modify ownerReferences)", "nodes/status"),
    Update("KeepsOwner", Node(kOwner), Node(kOwner), ""),
    Update("SetsConfigSource", Node(""), Node("", kSource),
           kRefused + R"(node "n1" is not allowed to update configSource to a new non-nil configSource)"),
    Update("KeepsConfigSource", Node("", kSource), Node("", kSource), ""),
    Update("DropsConfigSource", Node("", kSource), Node(""), ""),
    Update("ChangesKubeletLabels", Labels(R"("kubernetes.io/os":"a","kubernetes.io/arch":"a")"),
           Labels(R"("kubernetes.io/os":"b")"), ""),
    Update("AddsForbiddenLabel", Labels(""), Labels(R"("k8s.io/a":"1")"),
           kRefused + "is not allowed to modify labels: k8s.io/a"),
    Update("ChangesForbiddenLabel", Labels(R"("node-restriction.kubernetes.io/a":"1")"),
           Labels(R"("node-restriction.kubernetes.io/a":"2")"),
           kRefused + "is not allowed to modify labels: node-restriction.kubernetes.io/a"),
    Update("RemovesForbiddenLabel", Labels(R"("node-restriction.kubernetes.io/a":"1")"), Labels(""),
           kRefused + "is not allowed to modify labels: node-restriction.kubernetes.io/a"),
    Update("KeepsForbiddenLabel", Labels(R"("node-restriction.kubernetes.io/a":"1")"),
           Labels(R"("node-restriction.kubernetes.io/a":"1","b":"1")"), ""),
    {"UpdatesAnother",
     {.operation = Operation::kUpdate,
      .resource = "nodes/status",
      .name = "n2",
      .object = "{}",
      .old_object = "{}",
      .ns = ""},
     R"(403 nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2")"},
    {"DeletesAnother",
     {.operation = Operation::kDelete, .resource = "nodes", .name = "n2", .old_object = "{}", .ns = ""},
     R"(403 nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2")"},
    // The Node authorizer does not allow nodes to delete Nodes. As in kube-apiserver, the plugin does not check it.
    {"DeletesItself",
     {.operation = Operation::kDelete, .resource = "nodes", .name = "n1", .old_object = "{}", .ns = ""},
     ""},
};

class NodeRules : public ::testing::TestWithParam<Case> {};

TEST_P(NodeRules, Answer) { EXPECT_EQ(TestCluster().Answer(GetParam().write), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, NodeRules, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace apimesh::admission::node_restriction
