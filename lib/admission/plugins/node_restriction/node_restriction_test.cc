#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "lib/admission/plugins/node_restriction/test_cluster.h"

namespace apimesh::admission::node_restriction {
namespace {

struct Case {
  const char* name;
  Write write;
  std::string want;
};

const meta::UserInfo kNobody = {.name = "system:node:", .groups = {"system:nodes"}};
const meta::UserInfo kNotInTheGroup = {.name = "system:node:n1", .groups = {"system:authenticated"}};
const meta::UserInfo kNotNamedLikeANode = {.name = "alice", .groups = {"system:nodes"}};

Write Claim(std::string old, std::string object, const char* resource = "persistentvolumeclaims/status") {
  return {.operation = Operation::kUpdate,
          .resource = resource,
          .name = "c",
          .object = std::move(object),
          .old_object = std::move(old)};
}
const std::string kClaim =
    R"({"metadata":{"name":"c","resourceVersion":"1","managedFields":[{"manager":"a"}]},"spec":{"volumeName":"v"},
                               "status":{"phase":"Bound","capacity":{"storage":"1Gi"}}})";
const std::string kClaimRefused =
    R"(403 persistentvolumeclaims "c" is forbidden: node "n1" is not allowed to update fields other than status.quantity and status.conditions: )";

Write Lease(Operation operation, std::string name, std::string object, std::string ns = "kube-node-lease") {
  return {.operation = operation,
          .resource = "leases.coordination.k8s.io",
          .name = std::move(name),
          .object = std::move(object),
          .old_object = "{}",
          .ns = std::move(ns)};
}
Write CsiNode(Operation operation, std::string name, std::string object) {
  return {.operation = operation,
          .resource = "csinodes.storage.k8s.io",
          .name = std::move(name),
          .object = std::move(object),
          .old_object = "{}",
          .ns = ""};
}
Write Slice(Operation operation, std::string object, std::string old) {
  return {.operation = operation,
          .resource = "resourceslices.resource.k8s.io",
          .name = "s",
          .object = std::move(object),
          .old_object = std::move(old),
          .ns = ""};
}

const Case kCases[] = {
    {"ANodeWithoutAName",
     {.resource = "configmaps", .name = "c", .object = "{}", .user = kNobody},
     R"(403 configmaps "c" is forbidden: could not determine node from user "system:node:")"},
    {"NotInTheGroup", {.resource = "pods", .name = "p", .object = "{}", .user = kNotInTheGroup}, ""},
    {"NotNamedLikeANode", {.resource = "pods", .name = "p", .object = "{}", .user = kNotNamedLikeANode}, ""},
    {"OtherResources", {.resource = "configmaps", .name = "c", .object = "{}"}, ""},
    {"PodsOfAnotherGroup", {.resource = "pods.metrics.k8s.io", .name = "c", .object = "{}"}, ""},
    {"Events", {.resource = "events", .name = "c", .object = "{}"}, ""},

    {"ClaimItself", Claim(kClaim, kClaim, "persistentvolumeclaims"),
     R"(403 persistentvolumeclaims "c" is forbidden: may only update PVC status)"},
    {"CreatesClaim",
     {.resource = "persistentvolumeclaims", .name = "c", .object = "{}"},
     R"(403 persistentvolumeclaims "c" is forbidden: may only update PVC status)"},
    {"CreatesClaimStatus",
     {.resource = "persistentvolumeclaims/status", .name = "c", .object = "{}"},
     R"(403 persistentvolumeclaims "c" is forbidden: unexpected operation "CREATE")"},
    {"ClaimUnchanged", Claim(kClaim, kClaim), ""},
    {"ClaimResized",
     Claim(
         kClaim,
         R"({"metadata":{"name":"c","resourceVersion":"","managedFields":[{"manager":"b"}],"labels":{}},"spec":{"volumeName":"v"},
                       "status":{"phase":"Bound","capacity":{"storage":"2Gi"},"conditions":[{"type":"Resizing"}],
                                 "allocatedResources":{"storage":"2Gi"},"allocatedResourceStatuses":{"storage":"NodeResizeInProgress"}}})"),
     ""},
    {"ClaimWithoutPhaseIsPending",
     Claim(R"({"metadata":{"name":"c"},"status":{}})", R"({"metadata":{"name":"c"},"status":{"phase":"Pending"}})"),
     ""},
    {"ClaimPhase", Claim(kClaim, R"({"metadata":{"name":"c"},"spec":{"volumeName":"v"},"status":{"phase":"Lost"}})"),
     kClaimRefused + "status.phase"},
    {"ClaimMetadata",
     Claim(
         kClaim,
         R"({"metadata":{"name":"c","labels":{"a":"b"},"finalizers":["x/y"]},"spec":{"volumeName":"v"},"status":{"phase":"Bound"}})"),
     kClaimRefused + "metadata.finalizers, metadata.labels"},
    {"ClaimSpec", Claim(kClaim, R"({"metadata":{"name":"c"},"spec":{"volumeName":"w"},"status":{"phase":"Bound"}})"),
     kClaimRefused + "spec.volumeName"},
    {"ClaimAttributesClass",
     Claim(
         kClaim,
         R"({"metadata":{"name":"c"},"spec":{"volumeName":"v"},"status":{"phase":"Bound","modifyVolumeStatus":{"status":"Pending"}}})"),
     kClaimRefused + "status.modifyVolumeStatus"},

    {"CreatesItsLease", Lease(Operation::kCreate, "n1", R"({"metadata":{"name":"n1"}})"), ""},
    {"CreatesAnotherLease", Lease(Operation::kCreate, "n1", R"({"metadata":{"name":"n2"}})"),
     R"(403 leases.coordination.k8s.io "n1" is forbidden: can only access node lease with the same name as the requesting node)"},
    {"CreatesALeaseWithGeneratedName", Lease(Operation::kCreate, "", R"({"metadata":{"generateName":"n1"}})"),
     R"(403 leases.coordination.k8s.io "n1" is forbidden: can only access node lease with the same name as the requesting node)"},
    {"UpdatesItsLease", Lease(Operation::kUpdate, "n1", R"({"metadata":{"name":"n1"}})"), ""},
    {"UpdatesAnotherLease", Lease(Operation::kUpdate, "n2", R"({"metadata":{"name":"n2"}})"),
     R"(403 leases.coordination.k8s.io "n2" is forbidden: can only access node lease with the same name as the requesting node)"},
    {"DeletesAnotherLease", Lease(Operation::kDelete, "n2", ""),
     R"(403 leases.coordination.k8s.io "n2" is forbidden: can only access node lease with the same name as the requesting node)"},
    {"LeaseOfAnotherNamespace", Lease(Operation::kUpdate, "n1", R"({"metadata":{"name":"n1"}})", "kube-system"),
     R"(403 leases.coordination.k8s.io "n1" is forbidden: can only access leases in the "kube-node-lease" system namespace)"},

    {"CreatesItsCsiNode", CsiNode(Operation::kCreate, "n1", R"({"metadata":{"name":"n1"}})"), ""},
    {"CreatesAnotherCsiNode", CsiNode(Operation::kCreate, "n2", R"({"metadata":{"name":"n2"}})"),
     R"(403 csinodes.storage.k8s.io "n2" is forbidden: can only access CSINode with the same name as the requesting node)"},
    {"UpdatesItsCsiNode", CsiNode(Operation::kUpdate, "n1", R"({"metadata":{"name":"n1"}})"), ""},
    {"UpdatesAnotherCsiNode", CsiNode(Operation::kUpdate, "n2", R"({"metadata":{"name":"n1"}})"),
     R"(403 csinodes.storage.k8s.io "n2" is forbidden: can only access CSINode with the same name as the requesting node)"},
    {"DeletesAnotherCsiNode", CsiNode(Operation::kDelete, "n2", ""),
     R"(403 csinodes.storage.k8s.io "n2" is forbidden: can only access CSINode with the same name as the requesting node)"},

    {"CreatesItsSlice", Slice(Operation::kCreate, R"({"spec":{"nodeName":"n1"}})", ""), ""},
    {"CreatesAnotherSlice", Slice(Operation::kCreate, R"({"spec":{"nodeName":"n2"}})", ""),
     R"(403 resourceslices.resource.k8s.io "s" is forbidden: can only create ResourceSlice with the same NodeName as the requesting node)"},
    {"CreatesASliceOfAllNodes", Slice(Operation::kCreate, R"({"spec":{"allNodes":true}})", ""),
     R"(403 resourceslices.resource.k8s.io "s" is forbidden: can only create ResourceSlice with the same NodeName as the requesting node)"},
    {"DeletesItsSlice", Slice(Operation::kDelete, "", R"({"spec":{"nodeName":"n1"}})"), ""},
    {"DeletesAnotherSlice", Slice(Operation::kDelete, "", R"({"spec":{"nodeName":"n2"}})"),
     R"(403 resourceslices.resource.k8s.io "s" is forbidden: can only delete ResourceSlice with the same NodeName as the requesting node)"},
    {"UpdatesASlice", Slice(Operation::kUpdate, R"({"spec":{"nodeName":"n2"}})", R"({"spec":{"nodeName":"n2"}})"), ""},

    {"CertificateOfAPod",
     {.resource = "podcertificaterequests.certificates.k8s.io", .name = "p", .object = "{}"},
     R"(403 podcertificaterequests.certificates.k8s.io "p" is forbidden: PodCertificateRequest feature gate is disabled)"},
};

class NodeRestrictionRules : public ::testing::TestWithParam<Case> {};

TEST_P(NodeRestrictionRules, Answer) { EXPECT_EQ(TestCluster().Answer(GetParam().write), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, NodeRestrictionRules, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

/// Returns a certificate request with these common names, as PEM of this type in base64.
std::string SigningRequest(const std::vector<std::string>& common_names, const char* type = "CERTIFICATE REQUEST") {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509_REQ* request = X509_REQ_new();
  X509_NAME* subject = X509_REQ_get_subject_name(request);
  X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>("system:nodes"), -1,
                             -1, 0);
  for (const std::string& name : common_names) {
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.data()), -1,
                               -1, 0);
  }
  X509_REQ_set_pubkey(request, key);
  X509_REQ_sign(request, key, EVP_sha256());
  unsigned char* der = nullptr;
  const int size = i2d_X509_REQ(request, &der);
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio(bio, type, "", der, size);
  char* text = nullptr;
  const long length = BIO_get_mem_data(bio, &text);
  std::string encoded(static_cast<std::size_t>(4 * ((length + 2) / 3)), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()), reinterpret_cast<const unsigned char*>(text),
                  static_cast<int>(length));
  BIO_free(bio);
  OPENSSL_free(der);
  X509_REQ_free(request);
  EVP_PKEY_free(key);
  return encoded;
}

std::string AnswerToSigningRequest(const std::string& request, const char* signer = "kubernetes.io/kubelet-serving") {
  const std::string object = fmt::format(R"({{"spec":{{"signerName":"{}","request":"{}"}}}})", signer, request);
  return TestCluster().Answer(
      {.resource = "certificatesigningrequests.certificates.k8s.io", .name = "r", .object = object, .ns = ""});
}

TEST(SigningRequests, NameTheNode) {
  const std::string refused = R"(403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: )";
  const std::string another = refused + "can only create a node CSR with CN=system:node:n1";
  EXPECT_EQ(AnswerToSigningRequest(SigningRequest({"system:node:n1"})), "");
  EXPECT_EQ(AnswerToSigningRequest(SigningRequest({"system:node:n1"}), "kubernetes.io/kube-apiserver-client-kubelet"),
            "");
  EXPECT_EQ(AnswerToSigningRequest(SigningRequest({"system:node:n2"})), another);
  EXPECT_EQ(AnswerToSigningRequest(SigningRequest({"system:node:n2"}), "kubernetes.io/kube-apiserver-client-kubelet"),
            another);
  EXPECT_EQ(AnswerToSigningRequest(SigningRequest({"admin"})), another);
  EXPECT_EQ(AnswerToSigningRequest(SigningRequest({})), another);
  EXPECT_EQ(AnswerToSigningRequest(SigningRequest({"system:node:n1", "system:node:n2"})), another);
  EXPECT_EQ(AnswerToSigningRequest(SigningRequest({"system:node:n2"}), "example.com/other"), "");
  const std::string type = refused + "unable to parse csr: PEM block type must be CERTIFICATE REQUEST";
  EXPECT_EQ(AnswerToSigningRequest(SigningRequest({"system:node:n1"}, "NEW CERTIFICATE REQUEST")), type);
  EXPECT_EQ(AnswerToSigningRequest("bm90aGluZw=="), type);
  EXPECT_EQ(AnswerToSigningRequest(""), type);
}

TEST(SigningRequests, AreCheckedOnCreationOnly) {
  EXPECT_EQ(TestCluster().Answer({.operation = Operation::kUpdate,
                                  .resource = "certificatesigningrequests.certificates.k8s.io/status",
                                  .name = "r",
                                  .object = R"({"spec":{"signerName":"kubernetes.io/kubelet-serving"}})",
                                  .old_object = "{}",
                                  .ns = ""}),
            "");
}

TEST(NodeRestriction, FollowsFeatureGates) {
  TestCluster cluster;
  const Write token = {
      .resource = "serviceaccounts/token", .name = "sa", .object = R"({"spec":{"audiences":["a"],"boundObjectRef":
                         {"apiVersion":"v1","kind":"Pod","name":"mine","uid":"pod-uid"}}})"};
  const Write request = {.resource = "certificatesigningrequests.certificates.k8s.io",
                         .name = "c",
                         .object = R"({"spec":{"signerName":"kubernetes.io/kubelet-serving","request":""}})",
                         .ns = ""};
  EXPECT_NE(cluster.Answer(token), "");
  EXPECT_NE(cluster.Answer(request), "");
  cluster.features = features::FeatureGates(std::vector<std::string>{
      "ServiceAccountNodeAudienceRestriction=false", "AllowInsecureKubeletCertificateSigningRequests=true"});
  EXPECT_EQ(cluster.Answer(token), "");
  EXPECT_EQ(cluster.Answer(request), "");
}

struct PodCertificateCase {
  const char* name;
  std::string node, node_uid, pod, pod_uid, account, account_uid, want;
};
const std::string kForbidden = R"(403 podcertificaterequests.certificates.k8s.io "c" is forbidden: )";
const PodCertificateCase kPodCertificates[] = {
    {"Right", "n1", "node-uid", "mine", "pod-uid", "sa", "sa-uid", ""},
    {"OtherNode", "n2", "node-uid", "mine", "pod-uid", "sa", "sa-uid",
     kForbidden + R"(PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1")"},
    {"OtherNodeUid", "n1", "x", "mine", "pod-uid", "sa", "sa-uid",
     R"(500 PodCertificateRequest for pod "ns/mine" names node UID "x", inconsistent with the running node ("node-uid"))"},
    {"NoPod", "n1", "node-uid", "gone", "pod-uid", "sa", "sa-uid",
     R"(500 while retrieving pod "ns/gone" named in the PodCertificateRequest: pod "gone" not found)"},
    {"OtherPodUid", "n1", "node-uid", "mine", "x", "sa", "sa-uid",
     R"(500 PodCertificateRequest for pod "ns/mine" contains pod UID ("x") which differs from running pod "pod-uid")"},
    {"PodOfAnotherNode", "n1", "node-uid", "other", "pod-uid", "sa", "sa-uid",
     kForbidden + R"(pod "ns/other" is not running on node "n1" named in the PodCertificateRequest)"},
    {"OtherAccount", "n1", "node-uid", "mine", "pod-uid", "other", "sa-uid",
     kForbidden +
         R"(PodCertificateRequest for pod "ns/mine" contains serviceAccountName ("other") that differs from running pod ("sa"))"},
    {"OtherAccountUid", "n1", "node-uid", "mine", "pod-uid", "sa", "x",
     R"(500 PodCertificateRequest for pod "ns/mine" names service account UID "x", which differs from the running service account ("sa-uid"))"},
};
TEST(NodeRestriction, PodCertificates) {
  TestCluster cluster;
  cluster.Put({"", "pods"}, "ns/mine",
              R"({"metadata":{"name":"mine","namespace":"ns","uid":"pod-uid"},
                  "spec":{"nodeName":"n1","serviceAccountName":"sa"}})");
  const auto write = [](const PodCertificateCase& one) {
    return Write{.resource = "podcertificaterequests.certificates.k8s.io",
                 .name = "c",
                 .object = fmt::format(R"({{"spec":{{"nodeName":"{}","nodeUID":"{}","podName":"{}","podUID":"{}",)"
                                       R"("serviceAccountName":"{}","serviceAccountUID":"{}"}}}})",
                                       one.node, one.node_uid, one.pod, one.pod_uid, one.account, one.account_uid)};
  };
  EXPECT_EQ(cluster.Answer(write(kPodCertificates[0])), kForbidden + "PodCertificateRequest feature gate is disabled");
  cluster.features = features::FeatureGates(std::vector<std::string>{"PodCertificateRequest=true"});
  for (const PodCertificateCase& one : kPodCertificates) EXPECT_EQ(cluster.Answer(write(one)), one.want) << one.name;
}

}  // namespace
}  // namespace apimesh::admission::node_restriction
