#include "lib/admission/plugins/runtime_class/runtime_class.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

Write Creates(const std::string& spec) {
  return {.resource = "pods", .object = fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{{}}}}})", spec)};
}
std::string Refused(std::string_view why) { return fmt::format(R"(403 pods "p" is forbidden: {})", why); }

class RuntimeClasses : public ::testing::TestWithParam<PluginCase> {
 protected:
  RuntimeClasses() {
    const meta::GroupResource classes{"node.k8s.io", "runtimeclasses"};
    cluster_.Put(classes, "plain", R"({"metadata":{"name":"plain"},"handler":"h"})");
    cluster_.Put(classes, "vm", R"({"metadata":{"name":"vm"},"overhead":{"podFixed":{"cpu":"1","memory":"1Gi"}}})");
    cluster_.Put(classes, "gpu",
                 R"({"metadata":{"name":"gpu"},"scheduling":{"nodeSelector":{"gpu":"yes"},"tolerations":[
      {"key":"gpu","operator":"Exists","effect":"NoSchedule"}]}})");
    cluster_.Put(classes, "empty", R"({"metadata":{"name":"empty"},"overhead":{},"scheduling":{}})");
  }
  TestCluster cluster_;
};

TEST_P(RuntimeClasses, OfPods) { Check(*MakeRuntimeClass(cluster_.Inputs()), GetParam()); }

const char kMismatch[] = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const char kUndefined[] = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
const PluginCase kCases[] = {
    {"NoClass", Creates(""), "", R"({"spec":{"overhead":null}})"},
    {"PlainClass", Creates(R"("runtimeClassName":"plain")"), "", R"({"spec":{"overhead":null,"tolerations":null}})"},
    {"Overhead", Creates(R"("runtimeClassName":"vm")"), "", R"({"spec":{"overhead":{"cpu":"1","memory":"1Gi"}}})"},
    {"SameOverhead", Creates(R"("runtimeClassName":"vm","overhead":{"memory":"1024Mi","cpu":"1000m"})"), ""},
    {"Scheduling", Creates(R"("runtimeClassName":"gpu")"), "",
     R"({"spec":{"nodeSelector":{"gpu":"yes"},"tolerations":[{"key":"gpu","operator":"Exists","effect":"NoSchedule"}]}})"},
    {"MergedScheduling", Creates(R"("runtimeClassName":"gpu","nodeSelector":{"a":"b"},"tolerations":[{"key":"x"}])"),
     "",
     R"({"spec":{"nodeSelector":{"a":"b","gpu":"yes"},"tolerations":[{"key":"x"},{"key":"gpu","operator":"Exists",
       "effect":"NoSchedule"}]}})"},
    {"SameSelector", Creates(R"("runtimeClassName":"gpu","nodeSelector":{"gpu":"yes"})"), ""},
    {"IncludedToleration", Creates(R"("runtimeClassName":"gpu","tolerations":[{"operator":"Exists"}])"), "",
     R"({"spec":{"tolerations":[{"operator":"Exists"}]}})"},
    {"EmptyClass", Creates(R"("runtimeClassName":"empty")"), ""},
    {"Update",
     {.operation = Operation::kUpdate, .resource = "pods", .object = R"({"spec":{"overhead":{"cpu":"1"}}})"},
     ""},
    {"MissingClass", Creates(R"("runtimeClassName":"gone")"),
     Refused(R"(pod rejected: RuntimeClass "gone" not found)")},
    {"NameThatIsNone", Creates(R"("runtimeClassName":"A/b")"),
     R"(500 invalid resource name "A/b": [may not contain '/'])"},
    {"EmptyName", Creates(R"("runtimeClassName":"")"), "500 resource name may not be empty"},
    {"OtherOverhead", Creates(R"("runtimeClassName":"vm","overhead":{"cpu":"1","memory":"2Gi"})"), Refused(kMismatch)},
    {"PartOfTheOverhead", Creates(R"("runtimeClassName":"vm","overhead":{"cpu":"1"})"), Refused(kMismatch)},
    {"MoreOverhead", Creates(R"("runtimeClassName":"vm","overhead":{"cpu":"1","memory":"1Gi","x":"1"})"),
     Refused(kMismatch)},
    {"OverheadWithoutClass", Creates(R"("overhead":{"cpu":"1"})"), Refused(kUndefined)},
    {"OverheadOfPlainClass", Creates(R"("runtimeClassName":"plain","overhead":{"cpu":"1"})"), Refused(kUndefined)},
    {"ConflictingSelector", Creates(R"("runtimeClassName":"gpu","nodeSelector":{"gpu":"no"})"),
     Refused("conflict: runtimeClass.scheduling.nodeSelector[gpu] = yes; pod.spec.nodeSelector[gpu] = no")},
};
INSTANTIATE_TEST_SUITE_P(Table, RuntimeClasses, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST_F(RuntimeClasses, RefusesPodsIfClassesCannotBeRead) {
  EXPECT_NE(TestCluster::Run(*MakeRuntimeClass({}), Creates(R"("runtimeClassName":"vm")")).error, "");
}

}  // namespace
}  // namespace apimesh::admission
