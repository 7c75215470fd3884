#include "lib/admission/plugins/pod_group_protection/pod_group_protection.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

TEST(PodGroupProtection, AddsTheFinalizer) {
  const std::unique_ptr<Plugin> plugin = MakePodGroupProtection({});
  const std::string groups = "podgroups.scheduling.k8s.io";
  const char added[] = R"({"metadata":{"finalizers":["scheduling.k8s.io/podgroup-protection"]}})";
  Check(*plugin, {"Create", {.resource = groups, .object = "{}"}, "", added});
  Check(*plugin, {"Present", {.resource = groups, .object = added}, "", added});
  Check(*plugin, {"AfterOthers",
                  {.resource = groups, .object = R"({"metadata":{"finalizers":["a"]}})"},
                  "",
                  R"({"metadata":{"finalizers":["a","scheduling.k8s.io/podgroup-protection"]}})"});
  Check(*plugin,
        {"Update", {.operation = Operation::kUpdate, .resource = groups, .object = "{}"}, "", R"({"metadata":null})"});
  Check(*plugin,
        {"OtherKind", {.resource = "workloads.scheduling.k8s.io", .object = "{}"}, "", R"({"metadata":null})"});
}

}  // namespace
}  // namespace apimesh::admission
