#include "lib/admission/plugins/pod_group_workload_exists/pod_group_workload_exists.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

Write Creates(const std::string& spec, const std::string& ns = "ns") {
  return {.resource = "podgroups.scheduling.k8s.io",
          .object = fmt::format(R"({{"metadata":{{"name":"g"}},"spec":{{{}}}}})", spec),
          .ns = ns};
}
std::string From(const std::string& workload, const std::string& name) {
  return fmt::format(R"("podGroupTemplateRef":{{"workload":{{"workloadName":"{}","podGroupTemplateName":"{}"}}}})",
                     workload, name);
}
std::string Refused(std::string_view why) {
  return fmt::format(R"(403 podgroups.scheduling.k8s.io "g" is forbidden: PodGroup rejected: {})", why);
}

class PodGroups : public ::testing::TestWithParam<PluginCase> {};
TEST_P(PodGroups, NeedTheirWorkload) {
  TestCluster cluster;
  const meta::GroupResource workloads{"scheduling.k8s.io", "workloads"};
  cluster.Put(workloads, "ns/w", R"({"metadata":{"name":"w","namespace":"ns"},"spec":{"podGroupTemplates":[{"name":"a"},
    {"name":"b"}]}})");
  cluster.Put(workloads, "ns/dying", R"({"metadata":{"name":"dying","namespace":"ns","deletionTimestamp":
    "2026-01-01T00:00:00Z"},"spec":{"podGroupTemplates":[{"name":"a"}]}})");
  Check(*MakePodGroupWorkloadExists(cluster.Inputs()), GetParam());
}

const PluginCase kCases[] = {
    {"NoReference", Creates(""), ""},
    {"EmptyReference", Creates(R"("podGroupTemplateRef":{})"), ""},
    {"First", Creates(From("w", "a")), ""},
    {"Second", Creates(From("w", "b")), ""},
    {"MissingTemplate", Creates(From("w", "c")), Refused(R"(PodGroupTemplate "c" not found in Workload "w")")},
    {"MissingWorkload", Creates(From("gone", "a")), Refused(R"(Workload "gone" not found)")},
    {"OtherNamespace", Creates(From("w", "a"), "other"), Refused(R"(Workload "w" not found)")},
    {"DyingWorkload", Creates(From("dying", "a")), Refused(R"(Workload "dying" is being deleted)")},
};
INSTANTIATE_TEST_SUITE_P(Table, PodGroups, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace apimesh::admission
