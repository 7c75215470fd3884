#include "lib/admission/plugins/node_restriction/test_cluster.h"

namespace apimesh::admission::node_restriction {
namespace {

const std::string kRefused = R"(403 serviceaccounts "sa" is forbidden: )";

std::string Request(const std::string& reference, const std::string& audiences = "") {
  return fmt::format(R"({{"spec":{{"boundObjectRef":{},"audiences":[{}]}}}})", reference, audiences);
}
std::string BoundTo(const std::string& name, const std::string& audiences = "", const std::string& uid = "pod-uid") {
  return Request(fmt::format(R"({{"apiVersion":"v1","kind":"Pod","name":"{}","uid":"{}"}})", name, uid), audiences);
}
Write Token(std::string object) {
  return {.resource = "serviceaccounts/token", .name = "sa", .object = std::move(object)};
}

struct Case {
  const char* name;
  std::string request;
  std::string want;
};
const Case kBindings[] = {
    {"NoBinding", Request("null"), kRefused + "node requested token not bound to a pod"},
    {"BoundToASecret", Request(R"({"apiVersion":"v1","kind":"Secret","name":"mine","uid":"pod-uid"})"),
     kRefused + "node requested token not bound to a pod"},
    {"BoundToANode", Request(R"({"apiVersion":"v1","kind":"Node","name":"n1","uid":"node-uid"})"),
     kRefused + "node requested token not bound to a pod"},
    {"BoundToAnotherVersion", Request(R"({"apiVersion":"v2","kind":"Pod","name":"mine","uid":"pod-uid"})"),
     kRefused + "node requested token not bound to a pod"},
    {"BoundToNoName", Request(R"({"apiVersion":"v1","kind":"Pod","uid":"pod-uid"})"),
     kRefused + "node requested token not bound to a pod"},
    {"NoUid", BoundTo("mine", "", ""), kRefused + "node requested token with a pod binding without a uid"},
    {"AnotherUid", BoundTo("mine", "", "u"),
     kRefused + "the UID in the bound object reference (u) does not match the UID in record. The object might have "
                "been deleted and then recreated"},
    {"AnotherNodesPod", BoundTo("other"),
     kRefused + "node requested token bound to a pod scheduled on a different node"},
    {"NoPod", BoundTo("none"), R"(404 pod "none" not found)"},
    {"NameThatLeavesTheNamespace", BoundTo("../ns2/p"), R"(404 pod "../ns2/p" not found)"},
    {"TwoAudiences", BoundTo("mine", R"("a","b")"), kRefused + "node may only request 0 or 1 audiences"},
    {"AudienceOfNoVolume", BoundTo("mine", R"("a")"),
     kRefused +
         R"(audience "a" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience)"},
    {"DefaultAudienceOfNoVolume", BoundTo("mine"),
     kRefused +
         R"(audience "" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience)"},
};
class TokenBinding : public ::testing::TestWithParam<Case> {};

TEST_P(TokenBinding, Answer) { EXPECT_EQ(TestCluster().Answer(Token(GetParam().request)), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, TokenBinding, ::testing::ValuesIn(kBindings),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TokenRules, ConcernOnlyTokenRequests) {
  TestCluster cluster;
  EXPECT_EQ(cluster.Answer({.resource = "serviceaccounts", .name = "sa", .object = "{}"}), "");
  EXPECT_EQ(cluster.Answer(
                {.operation = Operation::kDelete, .resource = "serviceaccounts", .name = "sa", .old_object = "{}"}),
            "");
}

TEST(TokenRules, NeedPods) {
  TestCluster cluster;
  cluster.Forget({"", "pods"});
  EXPECT_EQ(cluster.Answer(Token(BoundTo("mine"))), kRefused + "pods cannot be read here");
}

struct VolumeCase {
  const char* name;
  const char* volumes;  // the volumes of the pod
  const char* audience;
  std::string want;
};
const std::string kNotFound =
    R"( not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience)";
const VolumeCase kVolumeCases[] = {
    {"Projected", R"({"name":"v","projected":{"sources":[{"serviceAccountToken":{"audience":"a"}}]}})", "a", ""},
    {"ProjectedForTheServer", R"({"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}})", "", ""},
    {"ProjectedForAnother", R"({"name":"v","projected":{"sources":[{"serviceAccountToken":{"audience":"b"}}]}})", "a",
     kRefused + R"(audience "a")" + kNotFound},
    {"Csi", R"({"name":"v","csi":{"driver":"driver"}})", "a", ""},
    {"CsiForAnother", R"({"name":"v","csi":{"driver":"driver"}})", "b", kRefused + R"(audience "b")" + kNotFound},
    {"Claim", R"({"name":"v","persistentVolumeClaim":{"claimName":"claim"}})", "a", ""},
    {"Ephemeral", R"({"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{}}}})", "a", ""},
    {"InTreeClaim", R"({"name":"v","persistentVolumeClaim":{"claimName":"disk-claim"}})", "disk", ""},
    {"InTreeInline", R"({"name":"v","gcePersistentDisk":{"pdName":"x"}})", "disk", ""},
    {"InTreeThatHasNoDriver", R"({"name":"v","azureDisk":{"kind":"Shared"}})", "a",
     kRefused + R"(error validating audience "a": kind(Shared) is not supported in csi migration)"},
    {"VolumeWithoutDriver", R"({"name":"v","persistentVolumeClaim":{"claimName":"nfs-claim"}})", "a",
     kRefused + R"(audience "a")" + kNotFound},
    {"MissingClaim", R"({"name":"v","persistentVolumeClaim":{"claimName":"none"}})", "a",
     kRefused + R"(error validating audience "a": persistentvolumeclaim "none" not found)"},
    {"UnboundClaim", R"({"name":"v","persistentVolumeClaim":{"claimName":"unbound"}})", "a",
     kRefused + R"(error validating audience "a": persistentvolume "" not found)"},
    {"MissingDriver", R"({"name":"v","csi":{"driver":"none"}})", "a",
     kRefused + R"(error validating audience "a": csidriver.storage.k8s.io "none" not found)"},
    {"SeveralProblems",
     R"({"name":"v","csi":{"driver":"x"}},{"name":"w","csi":{"driver":"y"}},{"name":"z","csi":{"driver":"x"}})", "a",
     kRefused +
         R"(error validating audience "a": [csidriver.storage.k8s.io "x" not found, csidriver.storage.k8s.io "y" not found])"},
    {"ProblemBesideAVolumeThatAsks", R"({"name":"v","csi":{"driver":"x"}},{"name":"w","csi":{"driver":"driver"}})", "a",
     ""},
};
class TokenAudience : public ::testing::TestWithParam<VolumeCase> {};

TEST_P(TokenAudience, IsThatOfAVolume) {
  TestCluster cluster;
  cluster.Put(
      {"", "pods"}, "ns/p",
      fmt::format(
          R"({{"metadata":{{"name":"p","namespace":"ns","uid":"pod-uid"}},"spec":{{"nodeName":"n1","volumes":[{}]}}}})",
          GetParam().volumes));
  for (const auto& [claim, volume] : {std::pair("claim", "csi-volume"),
                                      {"p-v", "csi-volume"},
                                      {"disk-claim", "disk"},
                                      {"nfs-claim", "nfs"},
                                      {"unbound", ""}}) {
    cluster.Put({"", "persistentvolumeclaims"}, fmt::format("ns/{}", claim),
                fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"volumeName":"{}"}}}})", claim, volume));
  }
  cluster.Put({"", "persistentvolumes"}, "csi-volume",
              R"({"metadata":{"name":"csi-volume"},"spec":{"csi":{"driver":"driver"}}})");
  cluster.Put({"", "persistentvolumes"}, "disk",
              R"({"metadata":{"name":"disk"},"spec":{"gcePersistentDisk":{"pdName":"x"}}})");
  cluster.Put({"", "persistentvolumes"}, "nfs", R"({"metadata":{"name":"nfs"},"spec":{"nfs":{"server":"x"}}})");
  cluster.Put({"storage.k8s.io", "csidrivers"}, "driver",
              R"({"metadata":{"name":"driver"},"spec":{"tokenRequests":[{"audience":"c"},{"audience":"a"}]}})");
  cluster.Put({"storage.k8s.io", "csidrivers"}, "pd.csi.storage.gke.io",
              R"({"metadata":{"name":"pd"},"spec":{"tokenRequests":[{"audience":"disk"}]}})");
  const std::string audience = GetParam().audience;
  EXPECT_EQ(cluster.Answer(Token(BoundTo("p", audience.empty() ? "" : "\"" + audience + "\""))), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, TokenAudience, ::testing::ValuesIn(kVolumeCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TokenRules, AuthorizedNodesMayAskForAnyAudience) {
  TestCluster cluster;
  cluster.auth->decision->allowed = true;
  cluster.auth->decision->error = "one of the rules could not be read";
  EXPECT_EQ(cluster.Answer(Token(BoundTo("mine", R"("a")"))), "");
  const service::AccessQuestion& asked = cluster.auth->question;
  EXPECT_EQ(asked.user.name, "system:node:n1");
  EXPECT_TRUE(asked.info.is_resource_request);
  EXPECT_EQ(asked.info.verb.Text(), "request-serviceaccounts-token-audience");
  EXPECT_EQ(asked.info.api_group, "");
  EXPECT_EQ(asked.info.ns, "ns");
  EXPECT_EQ(asked.info.resource, "a");
  EXPECT_EQ(asked.info.name, "sa");
}

TEST(TokenRules, RefuseWhenAuthorizationFails) {
  TestCluster cluster;
  cluster.auth->decision = meta::InternalError("no answer");
  EXPECT_EQ(
      cluster.Answer(Token(BoundTo("mine", R"("a")"))),
      kRefused +
          R"(audience "a" not found in pod spec volume, error authorizing system:node:n1 to request tokens for this audience: Internal error occurred: no answer)");
  cluster.auth = nullptr;
  EXPECT_EQ(cluster.Answer(Token(BoundTo("mine", R"("a")"))), kRefused + R"(audience "a")" + kNotFound);
}

}  // namespace
}  // namespace apimesh::admission::node_restriction
