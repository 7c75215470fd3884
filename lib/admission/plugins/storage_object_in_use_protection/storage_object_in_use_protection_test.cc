#include "lib/admission/plugins/storage_object_in_use_protection/storage_object_in_use_protection.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

std::string With(const std::string& finalizers) {
  return fmt::format(R"({{"metadata":{{"finalizers":[{}]}}}})", finalizers);
}
const char kNone[] = R"({"metadata":null})";

class StorageProtection : public ::testing::TestWithParam<PluginCase> {};
TEST_P(StorageProtection, AddsFinalizers) { Check(*MakeStorageObjectInUseProtection({}), GetParam()); }

const PluginCase kCases[] = {
    {"Claim", {.resource = "persistentvolumeclaims", .object = "{}"}, "", With(R"("kubernetes.io/pvc-protection")")},
    {"Volume", {.resource = "persistentvolumes", .object = "{}"}, "", With(R"("kubernetes.io/pv-protection")")},
    {"AttributesClass",
     {.resource = "volumeattributesclasses.storage.k8s.io", .object = "{}"},
     "",
     With(R"("kubernetes.io/vac-protection")")},
    {"AfterOthers",
     {.resource = "persistentvolumeclaims", .object = With(R"("a")")},
     "",
     With(R"("a","kubernetes.io/pvc-protection")")},
    {"Present",
     {.resource = "persistentvolumes", .object = With(R"("kubernetes.io/pv-protection","a")")},
     "",
     With(R"("kubernetes.io/pv-protection","a")")},
    {"Update", {.operation = Operation::kUpdate, .resource = "persistentvolumes", .object = "{}"}, "", kNone},
    {"Status", {.operation = Operation::kUpdate, .resource = "persistentvolumes/status", .object = "{}"}, "", kNone},
    {"OtherGroup", {.resource = "persistentvolumes.example.com", .object = "{}"}, "", kNone},
    {"StorageClass", {.resource = "storageclasses.storage.k8s.io", .object = "{}"}, "", kNone},
};
INSTANTIATE_TEST_SUITE_P(Table, StorageProtection, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace apimesh::admission
