#include "lib/admission/plugins/persistent_volume_claim_resize/persistent_volume_claim_resize.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

std::string Claim(const std::string& storage, const std::string& storage_class, const std::string& phase = "Bound",
                  const std::string& annotations = "") {
  return fmt::format(
      R"({{"metadata":{{"annotations":{{{}}}}},"spec":{{"storageClassName":"{}","resources":{{"requests":{{"storage":"{}"}}}}}},"status":{{"phase":"{}"}}}})",
      annotations, storage_class, storage, phase);
}
Write Resizes(const std::string& object, const std::string& old,
              const std::string& resource = "persistentvolumeclaims") {
  return {.operation = Operation::kUpdate, .resource = resource, .name = "p", .object = object, .old_object = old};
}
std::string Refused(std::string_view why) {
  return fmt::format(R"(403 persistentvolumeclaims "p" is forbidden: {})", why);
}

class ClaimResizes : public ::testing::TestWithParam<PluginCase> {
 protected:
  ClaimResizes() {
    const meta::GroupResource classes{"storage.k8s.io", "storageclasses"};
    cluster_.Put(classes, "grows", R"({"metadata":{"name":"grows"},"allowVolumeExpansion":true})");
    cluster_.Put(classes, "fixed", R"({"metadata":{"name":"fixed"},"allowVolumeExpansion":false})");
    cluster_.Put(classes, "silent", R"({"metadata":{"name":"silent"}})");
  }
  TestCluster cluster_;
};
TEST_P(ClaimResizes, AreChecked) { Check(*MakePersistentVolumeClaimResize(cluster_.Inputs()), GetParam()); }

const std::string kUnsupported = Refused(
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize");
const std::string kUnbound = Refused("Only bound persistent volume claims can be expanded");
const char kBeta[] = R"("volume.beta.kubernetes.io/storage-class":"grows")";
const PluginCase kCases[] = {
    {"Grows", Resizes(Claim("2Gi", "grows"), Claim("1Gi", "grows")), ""},
    {"GrowsBySmallAmount", Resizes(Claim("1025Mi", "grows"), Claim("1Gi", "grows")), ""},
    {"ClassOfAnnotation", Resizes(Claim("2Gi", "", "Bound", kBeta), Claim("1Gi", "", "Bound", kBeta)), ""},
    {"Same", Resizes(Claim("1Gi", "fixed"), Claim("1Gi", "fixed")), ""},
    {"SameInOtherNotation", Resizes(Claim("1024Mi", "fixed"), Claim("1Gi", "fixed")), ""},
    {"Shrinks", Resizes(Claim("1Gi", "fixed"), Claim("2Gi", "fixed")), ""},
    {"NewPhaseDoesNotCount", Resizes(Claim("2Gi", "grows", "Pending"), Claim("1Gi", "grows")), ""},
    {"Status", Resizes(Claim("2Gi", "fixed"), Claim("1Gi", "fixed"), "persistentvolumeclaims/status"), ""},
    {"Create", {.resource = "persistentvolumeclaims", .object = Claim("2Gi", "fixed")}, ""},
    {"OtherKind", Resizes(Claim("2Gi", "fixed"), Claim("1Gi", "fixed"), "persistentvolumes"), ""},
    {"FixedClass", Resizes(Claim("2Gi", "fixed"), Claim("1Gi", "fixed")), kUnsupported},
    {"ClassThatDoesNotSay", Resizes(Claim("2Gi", "silent"), Claim("1Gi", "silent")), kUnsupported},
    {"MissingClass", Resizes(Claim("2Gi", "gone"), Claim("1Gi", "gone")), kUnsupported},
    {"NoClass", Resizes(Claim("2Gi", ""), Claim("1Gi", "")), kUnsupported},
    {"NewClass", Resizes(Claim("2Gi", "grows"), Claim("1Gi", "fixed")), kUnsupported},
    {"AddedClass", Resizes(Claim("2Gi", "grows"), Claim("1Gi", "")), kUnsupported},
    {"Pending", Resizes(Claim("2Gi", "grows"), Claim("1Gi", "grows", "Pending")), kUnbound},
    {"Lost", Resizes(Claim("2Gi", "grows"), Claim("1Gi", "grows", "Lost")), kUnbound},
    {"NoPhase", Resizes(Claim("2Gi", "grows"), Claim("1Gi", "grows", "")), kUnbound},
};
INSTANTIATE_TEST_SUITE_P(Table, ClaimResizes, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

}  // namespace
}  // namespace apimesh::admission
