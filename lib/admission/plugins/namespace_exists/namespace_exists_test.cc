#include "lib/admission/plugins/namespace_exists/namespace_exists.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

Write Writes(Operation operation, const std::string& resource, const std::string& ns) {
  return {.operation = operation, .resource = resource, .name = "x", .object = "{}", .old_object = "{}", .ns = ns};
}

class ExistingNamespaces : public ::testing::TestWithParam<PluginCase> {};
TEST_P(ExistingNamespaces, AreRequired) {
  TestCluster cluster;
  cluster.Put({"", "namespaces"}, "ns", R"({"metadata":{"name":"ns"}})");
  cluster.Put({"", "namespaces"}, "dying", R"({"metadata":{"name":"dying"},"status":{"phase":"Terminating"}})");
  Check(*MakeNamespaceExists(cluster.Inputs()), GetParam());
}

const std::string kGone = R"(404 namespaces "gone" not found)";
const PluginCase kCases[] = {
    {"Create", Writes(Operation::kCreate, "pods", "ns"), ""},
    {"Update", Writes(Operation::kUpdate, "pods", "ns"), ""},
    {"Delete", Writes(Operation::kDelete, "pods", "ns"), ""},
    {"Dying", Writes(Operation::kCreate, "pods", "dying"), ""},
    {"Custom", Writes(Operation::kCreate, "foos.example.com", "ns"), ""},
    {"Cluster", Writes(Operation::kCreate, "nodes", ""), ""},
    {"Namespace", Writes(Operation::kCreate, "namespaces", "gone"), ""},
    {"Connect", Writes(Operation::kConnect, "pods/exec", "gone"), ""},
    {"CreateInMissing", Writes(Operation::kCreate, "pods", "gone"), kGone},
    {"UpdateInMissing", Writes(Operation::kUpdate, "pods", "gone"), kGone},
    {"DeleteInMissing", Writes(Operation::kDelete, "pods", "gone"), kGone},
    {"StatusInMissing", Writes(Operation::kUpdate, "pods/status", "gone"), kGone},
    {"CustomInMissing", Writes(Operation::kCreate, "foos.example.com", "gone"), kGone},
    {"EventInMissing", Writes(Operation::kCreate, "events", "gone"), kGone},
    {"NameThatIsNone", Writes(Operation::kCreate, "pods", "a/b"), R"(404 namespaces "a/b" not found)"},
    {"OtherGroup", Writes(Operation::kCreate, "namespaces.example.com", "gone"), kGone},
};
INSTANTIATE_TEST_SUITE_P(Table, ExistingNamespaces, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST(NamespaceExists, RefusesIfNamespacesCannotBeRead) {
  EXPECT_NE(TestCluster::Run(*MakeNamespaceExists({}), Writes(Operation::kCreate, "pods", "ns")).error, "");
}

}  // namespace
}  // namespace apimesh::admission
