#include "lib/admission/plugins/extended_resource_toleration/extended_resource_toleration.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

Write Requests(const std::string& requests, const std::string& more = "", const std::string& list = "containers") {
  return {
      .resource = "pods",
      .object = fmt::format(R"({{"spec":{{"{}":[{{"resources":{{"requests":{{{}}}}}}}]{}}}}})", list, requests, more)};
}
std::string Want(const std::string& tolerations) {
  return fmt::format(R"({{"spec":{{"tolerations":{}}}}})", tolerations);
}
const std::string kGpu = R"({"key":"example.com/gpu","operator":"Exists","effect":"NoSchedule"})";
const std::string kDisk = R"({"key":"example.com/disk","operator":"Exists","effect":"NoSchedule"})";

class ExtendedTolerations : public ::testing::TestWithParam<PluginCase> {};
TEST_P(ExtendedTolerations, OfPods) { Check(*MakeExtendedResourceToleration({}), GetParam()); }

const PluginCase kCases[] = {
    {"Extended", Requests(R"("example.com/gpu":"1")"), "", Want("[" + kGpu + "]")},
    {"InitContainer", Requests(R"("example.com/gpu":"1")", "", "initContainers"), "", Want("[" + kGpu + "]")},
    {"Sorted", Requests(R"("example.com/gpu":"1","example.com/disk":"1")"), "", Want("[" + kDisk + "," + kGpu + "]")},
    {"Native", Requests(R"("cpu":"1","memory":"1Gi","hugepages-2Mi":"2Mi")"), "", Want("null")},
    {"Kubernetes", Requests(R"("x.kubernetes.io/gpu":"1")"), "", Want("null")},
    {"QuotaName", Requests(R"("requests.example.com/gpu":"1")"), "", Want("null")},
    {"Present", Requests(R"("example.com/gpu":"1")", R"(,"tolerations":[)" + kGpu + "]"), "", Want("[" + kGpu + "]")},
    {"ReplacesSeconds",
     Requests(R"("example.com/gpu":"1")", R"(,"tolerations":[{"key":"example.com/gpu","operator":"Exists",
       "effect":"NoSchedule","tolerationSeconds":5}])"),
     "", Want("[" + kGpu + "]")},
    {"KeepsOthers", Requests(R"("example.com/gpu":"1")", R"(,"tolerations":[{"key":"a"}])"), "",
     Want(R"([{"key":"a"},)" + kGpu + "]")},
    {"OtherKind", {.resource = "jobs.batch", .object = "{}"}, "", R"({"spec":null})"},
};
INSTANTIATE_TEST_SUITE_P(Table, ExtendedTolerations, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace apimesh::admission
