#include "lib/admission/plugins/pod_resize_validator/pod_resize_validator.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

Write Resizes(const std::string& requests, const std::string& node = "n", const std::string& more = "",
              int generation = 2, const std::string& resource = "pods/resize") {
  return {
      .operation = Operation::kUpdate,
      .resource = resource,
      .name = "p",
      .object = fmt::format(
          R"({{"metadata":{{"name":"p","generation":{}}},"spec":{{"nodeName":"{}","containers":[{{"resources":{{"requests":{{{}}}}}}}]{}}}}})",
          generation, node, requests, more),
      .old_object = R"({"metadata":{"generation":1}})"};
}
std::string Refused(std::string_view why) { return fmt::format(R"(403 pods "p" is forbidden: {})", why); }
std::string TooMuch(std::string_view what) {
  return Refused(fmt::format("node didn't have enough allocatable resources: {}", what));
}

class Resizing : public ::testing::TestWithParam<PluginCase> {};
TEST_P(Resizing, IsChecked) {
  TestCluster cluster;
  cluster.Put({"", "nodes"}, "n",
              R"({"metadata":{"name":"n","labels":{"kubernetes.io/os":"linux"}},"status":{"allocatable":
    {"cpu":"2","memory":"1Gi"}}})");
  cluster.Put({"", "nodes"}, "unlabelled",
              R"({"metadata":{"name":"unlabelled"},"status":{"allocatable":{"cpu":"2"}}})");
  cluster.Put({"", "nodes"}, "win", R"({"metadata":{"name":"win","labels":{"kubernetes.io/os":"windows"}}})");
  Check(*MakePodResizeValidator(cluster.Inputs()), GetParam());
}

const PluginCase kCases[] = {
    {"Within", Resizes(R"("cpu":"1","memory":"1Mi")"), ""},
    {"All", Resizes(R"("cpu":"2000m","memory":"1024Mi")"), ""},
    {"Nothing", Resizes(""), ""},
    {"Unlabelled", Resizes(R"("cpu":"1")", "unlabelled"), ""},
    {"OtherResources", Resizes(R"("example.com/gpu":"5")"), ""},
    {"Unscheduled", Resizes(R"("cpu":"9")", ""), ""},
    {"SameGeneration", Resizes(R"("cpu":"9")", "n", "", 1), ""},
    {"OrdinaryUpdate", Resizes(R"("cpu":"9")", "n", "", 2, "pods"), ""},
    {"PodLevel", Resizes(R"("cpu":"9")", "n", R"(,"resources":{"requests":{"cpu":"1"}})"), ""},
    {"TooMuchCpu", Resizes(R"("cpu":"3")"), TooMuch("cpu, requested: 3000, allocatable: 2000")},
    {"TooMuchMemory", Resizes(R"("memory":"2Gi")"), TooMuch("memory, requested: 2147483648, allocatable: 1073741824")},
    {"TooMuchOfBoth", Resizes(R"("cpu":"2001m","memory":"1025Mi")"),
     TooMuch("cpu, requested: 2001, allocatable: 2000; memory, requested: 1074790400, allocatable: 1073741824")},
    {"WithOverhead", Resizes(R"("cpu":"2")", "n", R"(,"overhead":{"cpu":"1m"})"),
     TooMuch("cpu, requested: 2001, allocatable: 2000")},
    {"WithSidecar",
     Resizes(R"("cpu":"1")", "n",
             R"(,"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1500m"}}}])"),
     TooMuch("cpu, requested: 2500, allocatable: 2000")},
    {"NoMemory", Resizes(R"("memory":"1")", "unlabelled"), TooMuch("memory, requested: 1, allocatable: 0")},
    {"Windows", Resizes(R"("cpu":"1")", "win"),
     Refused(R"(pod resize is only supported on linux nodes, node "win" is "windows")")},
    {"MissingNode", Resizes(R"("cpu":"1")", "gone"), Refused(R"(node "gone" not found)")},
};
INSTANTIATE_TEST_SUITE_P(Table, Resizing, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace apimesh::admission
