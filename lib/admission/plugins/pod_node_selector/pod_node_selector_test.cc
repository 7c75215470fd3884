#include "lib/admission/plugins/pod_node_selector/pod_node_selector.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

Write Creates(const std::string& selector, const std::string& ns) {
  return {.resource = "pods",
          .object = fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{"nodeSelector":{{{}}}}}}})", selector),
          .ns = ns};
}
std::string Selects(const std::string& selector) {
  return fmt::format(R"({{"spec":{{"nodeSelector":{{{}}}}}}})", selector);
}
const char kConflict[] =
    R"(403 pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector)";
const char kWhitelist[] =
    R"(403 pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist)";

class NodeSelectors : public ::testing::TestWithParam<PluginCase> {};
TEST_P(NodeSelectors, OfNamespaces) {
  TestCluster cluster;
  const auto put = [&](const std::string& name, const std::string& selector) {
    cluster.Put(
        {"", "namespaces"}, name,
        fmt::format(
            R"({{"metadata":{{"name":"{}","annotations":{{"scheduler.alpha.kubernetes.io/node-selector":"{}"}}}}}})",
            name, selector));
  };
  cluster.Put({"", "namespaces"}, "plain", R"({"metadata":{"name":"plain"}})");
  put("blue", "color=blue");
  put("two", "a=b, c = d");
  put("empty", "");
  put("limited", "color=blue");
  put("broken", "color");
  put("bad", "a/b/c=d");
  PluginInputs inputs = cluster.Inputs();
  inputs.section =
      "podNodeSelectorPluginConfig:\n  clusterDefaultNodeSelector: zone=z\n  limited: color=blue,size=big\n";
  Check(*MakePodNodeSelector(inputs), GetParam());
}

const PluginCase kCases[] = {
    {"Default", Creates("", "plain"), "", Selects(R"("zone":"z")")},
    {"DefaultMerged", Creates(R"("x":"y")", "plain"), "", Selects(R"("x":"y","zone":"z")")},
    {"Annotation", Creates("", "blue"), "", Selects(R"("color":"blue","zone":null)")},
    {"Same", Creates(R"("color":"blue")", "blue"), "", Selects(R"("color":"blue")")},
    {"Spaces", Creates("", "two"), "", Selects(R"("a":"b","c":"d")")},
    {"EmptyAnnotation", Creates("", "empty"), "", Selects(R"("zone":null)")},
    {"Limited", Creates("", "limited"), "", Selects(R"("color":"blue")")},
    {"LimitedAllowed", Creates(R"("size":"big")", "limited"), "", Selects(R"("size":"big","color":"blue")")},
    {"Update",
     {.operation = Operation::kUpdate, .resource = "pods", .object = "{}", .ns = "blue"},
     "",
     R"({"spec":null})"},
    {"OtherColor", Creates(R"("color":"red")", "blue"), kConflict},
    {"OtherZone", Creates(R"("zone":"y")", "plain"), kConflict},
    {"EmptyColor", Creates(R"("color":"")", "blue"), kConflict},
    {"ConflictBeforeWhitelist", Creates(R"("color":"red")", "limited"), kConflict},
    {"NotListed", Creates(R"("disk":"ssd")", "limited"), kWhitelist},
    {"OtherValue", Creates(R"("size":"small")", "limited"), kWhitelist},
    {"Broken", Creates("", "broken"), "500 invalid selector: [color]"},
    {"MissingNamespace", Creates("", "gone"), "500 Internal error occurred: namespace gone does not exist"},
};
INSTANTIATE_TEST_SUITE_P(Table, NodeSelectors, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace apimesh::admission
