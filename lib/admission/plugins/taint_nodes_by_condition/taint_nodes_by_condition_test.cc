#include "lib/admission/plugins/taint_nodes_by_condition/taint_nodes_by_condition.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

const std::string kTaint = R"({"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"})";

std::string Node(const std::string& taints) { return fmt::format(R"({{"spec":{{"taints":[{}]}}}})", taints); }
Write CreatesNode(const std::string& taints) { return {.resource = "nodes", .object = Node(taints), .ns = ""}; }

class NodeTaints : public ::testing::TestWithParam<PluginCase> {};
TEST_P(NodeTaints, OfNewNodes) { Check(*MakeTaintNodesByCondition({}), GetParam()); }

const PluginCase kCases[] = {
    {"NoSpec", {.resource = "nodes", .object = "{}"}, "", Node(kTaint)},
    {"None", CreatesNode(""), "", Node(kTaint)},
    {"OtherKey", CreatesNode(R"({"key":"a","effect":"NoSchedule"})"), "",
     Node(R"({"key":"a","effect":"NoSchedule"},)" + kTaint)},
    {"OtherEffect", CreatesNode(R"({"key":"node.kubernetes.io/not-ready","effect":"NoExecute"})"), "",
     Node(R"({"key":"node.kubernetes.io/not-ready","effect":"NoExecute"},)" + kTaint)},
    {"Present", CreatesNode(kTaint), "", Node(kTaint)},
    {"PresentWithValue", CreatesNode(R"({"key":"node.kubernetes.io/not-ready","value":"v","effect":"NoSchedule"})"), "",
     Node(R"({"key":"node.kubernetes.io/not-ready","value":"v","effect":"NoSchedule"})")},
    {"Update", {.operation = Operation::kUpdate, .resource = "nodes", .object = "{}"}, "", R"({"spec":null})"},
    {"Status", {.operation = Operation::kUpdate, .resource = "nodes/status", .object = "{}"}, "", R"({"spec":null})"},
    {"OtherKind", {.resource = "pods", .object = "{}"}, "", R"({"spec":null})"},
    {"OtherGroup", {.resource = "nodes.example.com", .object = "{}"}, "", R"({"spec":null})"},
};
INSTANTIATE_TEST_SUITE_P(Table, NodeTaints, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace apimesh::admission
