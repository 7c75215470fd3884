#include "lib/admission/plugins/node_restriction/test_cluster.h"

namespace apimesh::admission::node_restriction {
namespace {

const std::string kOwner = R"({"apiVersion":"v1","kind":"Node","name":"n1","uid":"node-uid","controller":true})";

/// Returns a mirror pod of n1 with these additional fields in its spec.
std::string Mirror(const std::string& spec = "", const std::string& owners = kOwner, const std::string& node = "n1") {
  return fmt::format(
      R"({{"metadata":{{"name":"p","annotations":{{"kubernetes.io/config.mirror":"x"}},"ownerReferences":[{}]}},
                         "spec":{{"nodeName":"{}"{}{}}}}})",
      owners, node, spec.empty() ? "" : ",", spec);
}
std::string Volume(const std::string& source) { return Mirror(R"("volumes":[{"name":"v",)" + source + "}]"); }
std::string Projected(const std::string& source) { return Volume(R"("projected":{"sources":[)" + source + "]}"); }
std::string Container(const std::string& list, const std::string& fields) {
  return Mirror(fmt::format(R"("{}":[{{"name":"c",{}}}])", list, fields));
}

const std::string kRefused = R"(403 pods "p" is forbidden: )";
std::string References(const std::string& what) {
  return kRefused + R"(node "n1" can not create pods that reference )" + what;
}

struct Case {
  std::string name;
  std::string pod;
  std::string want;
};
const Case kCreations[] = {
    {"MirrorPod", Mirror(), ""},
    {"NoMirrorPod", R"({"metadata":{"name":"p"},"spec":{"nodeName":"n1"}})",
     kRefused + R"(pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods)"},
    {"OnAnotherNode", Mirror("", kOwner, "n2"),
     kRefused + R"(node "n1" can only create pods with spec.nodeName set to itself)"},
    {"OnNoNode", Mirror("", kOwner, ""),
     kRefused + R"(node "n1" can only create pods with spec.nodeName set to itself)"},
    {"NoOwner", Mirror("", ""), kRefused + R"(node "n1" can only create pods with an owner reference set to itself)"},
    {"TwoOwners", Mirror("", kOwner + "," + kOwner),
     kRefused + R"(node "n1" can only create pods with a single owner reference set to itself)"},
    {"OwnerOfAnotherKind",
     Mirror("", R"({"apiVersion":"v1","kind":"Pod","name":"n1","uid":"node-uid","controller":true})"),
     kRefused + R"(node "n1" can only create pods with an owner reference set to itself)"},
    {"OwnerOfAnotherVersion",
     Mirror("", R"({"apiVersion":"apps/v1","kind":"Node","name":"n1","uid":"node-uid","controller":true})"),
     kRefused + R"(node "n1" can only create pods with an owner reference set to itself)"},
    {"OwnerIsAnotherNode",
     Mirror("", R"({"apiVersion":"v1","kind":"Node","name":"n2","uid":"node-uid","controller":true})"),
     kRefused + R"(node "n1" can only create pods with an owner reference set to itself)"},
    {"OwnerIsNoController", Mirror("", R"({"apiVersion":"v1","kind":"Node","name":"n1","uid":"node-uid"})"),
     kRefused + R"(node "n1" can only create pods with a controller owner reference set to itself)"},
    {"OwnerBlocksDeletion",
     Mirror(
         "",
         R"({"apiVersion":"v1","kind":"Node","name":"n1","uid":"node-uid","controller":true,"blockOwnerDeletion":true})"),
     kRefused + R"(node "n1" must not set blockOwnerDeletion on an owner reference)"},
    {"OwnerDoesNotBlockDeletion",
     Mirror(
         "",
         R"({"apiVersion":"v1","kind":"Node","name":"n1","uid":"node-uid","controller":true,"blockOwnerDeletion":false})"),
     ""},
    {"OwnerHasAnotherUid", Mirror("", R"({"apiVersion":"v1","kind":"Node","name":"n1","uid":"u","controller":true})"),
     kRefused + "node n1 UID mismatch: expected u got node-uid"},
    {"ServiceAccount", Mirror(R"("serviceAccountName":"s")"), References("serviceaccounts")},
    {"DeprecatedServiceAccount", Mirror(R"("serviceAccount":"s")"), References("serviceaccounts")},
    {"ImagePullSecret", Mirror(R"("imagePullSecrets":[{"name":"s"}])"), References("secrets")},
    {"EnvironmentOfSecret", Container("containers", R"("envFrom":[{"secretRef":{"name":"s"}}])"),
     References("secrets")},
    {"VariableOfSecret",
     Container("initContainers", R"("env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}])"),
     References("secrets")},
    {"EphemeralContainerWithSecret", Container("ephemeralContainers", R"("envFrom":[{"secretRef":{"name":"s"}}])"),
     References("secrets")},
    {"EnvironmentOfConfigMap", Container("initContainers", R"("envFrom":[{"configMapRef":{"name":"s"}}])"),
     References("configmaps")},
    {"VariableOfConfigMap",
     Container("containers", R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"s","key":"k"}}}])"),
     References("configmaps")},
    {"EphemeralContainerWithConfigMap",
     Container("ephemeralContainers", R"("envFrom":[{"configMapRef":{"name":"s"}}])"), References("configmaps")},
    {"PlainVariable",
     Container(
         "containers",
         R"("env":[{"name":"A","value":"b"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}])"),
     ""},
    {"ResourceClaim", Mirror(R"("resourceClaims":[{"name":"c","resourceClaimName":"x"}])"),
     References("resourceclaims")},
    {"ResourceClaimTemplate", Mirror(R"("resourceClaims":[{"name":"c","resourceClaimTemplateName":"x"}])"),
     References("resourceclaims")},

    {"SecretVolume", Volume(R"("secret":{"secretName":"s"})"), References("secrets")},
    {"SecretVolumeWithoutName", Volume(R"("secret":{"optional":true})"), References("secrets (via secret volumes)")},
    {"ConfigMapVolume", Volume(R"("configMap":{"name":"s"})"), References("configmaps")},
    {"ConfigMapVolumeWithoutName", Volume(R"("configMap":{"optional":true})"),
     References("configmaps (via configmap volumes)")},
    {"AzureFile", Volume(R"("azureFile":{"secretName":"s"})"), References("secrets")},
    {"AzureFileWithoutName", Volume(R"("azureFile":{"shareName":"s"})"), References("secrets (via azureFile volumes)")},
    {"Csi", Volume(R"("csi":{"driver":"d"})"), References("csidrivers (via CSI volumes)")},
    {"CsiWithSecret", Volume(R"("csi":{"driver":"d","nodePublishSecretRef":{"name":"s"}})"), References("secrets")},
    {"Glusterfs", Volume(R"("glusterfs":{"endpoints":"e","path":"p"})"),
     References("endpoints (via glusterFS volumes)")},
    {"Claim", Volume(R"("persistentVolumeClaim":{"claimName":"c"})"), References("persistentvolumeclaims")},
    {"EphemeralVolume", Volume(R"("ephemeral":{"volumeClaimTemplate":{}})"),
     References("persistentvolumeclaims (via ephemeral volumes)")},
    {"HarmlessSourceBesideASecretOne", Volume(R"("emptyDir":{},"persistentVolumeClaim":{"claimName":"c"})"),
     References("persistentvolumeclaims")},
    {"UnknownVolume", Volume(R"("tomorrow":{})"),
     kRefused + R"(error checking mirror pod for API references: unknown volume type for volume  "v")"},
    {"ProjectedSecret", Projected(R"({"secret":{"name":"s"}})"), References("secrets")},
    {"ProjectedSecretWithoutName", Projected(R"({"secret":{"optional":true}})"),
     References("secrets (via projected volumes)")},
    {"ProjectedConfigMap", Projected(R"({"configMap":{"name":"s"}})"), References("configmaps")},
    {"ProjectedConfigMapWithoutName", Projected(R"({"configMap":{"optional":true}})"),
     References("configmaps (via projected volumes)")},
    {"ProjectedToken", Projected(R"({"downwardAPI":{}},{"serviceAccountToken":{"path":"p"}})"),
     References("serviceaccounts (via projected volumes)")},
    {"ProjectedTrustBundle", Projected(R"({"clusterTrustBundle":{"path":"p"}})"), References("clustertrustbundles")},
    {"ProjectedCertificate", Projected(R"({"podCertificate":{"signerName":"p"}})"), References("podcertificates")},
    {"ProjectedDownwardApi", Projected(R"({"downwardAPI":{}})"), ""},
    {"UnknownProjection", Projected(R"({"tomorrow":{}})"),
     kRefused + R"(error checking mirror pod for API references: unknown source for projected volume "v")"},
};

std::vector<Case> WithVolumeSources() {
  std::vector<Case> cases(std::begin(kCreations), std::end(kCreations));
  for (const char* source : {"cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"}) {
    cases.push_back({fmt::format("SecretRefOf_{}", source),
                     Volume(fmt::format(R"("{}":{{"secretRef":{{"name":"s"}}}})", source)), References("secrets")});
  }
  for (const char* source : {"awsElasticBlockStore",
                             "azureDisk",
                             "cephfs",
                             "cinder",
                             "downwardAPI",
                             "emptyDir",
                             "fc",
                             "flexVolume",
                             "flocker",
                             "gcePersistentDisk",
                             "gitRepo",
                             "hostPath",
                             "image",
                             "iscsi",
                             "nfs",
                             "photonPersistentDisk",
                             "portworxVolume",
                             "quobyte",
                             "rbd",
                             "scaleIO",
                             "storageos",
                             "vsphereVolume"}) {
    cases.push_back({fmt::format("Allows_{}", source), Volume(fmt::format(R"("{}":{{}})", source)), ""});
  }
  return cases;
}

class PodCreation : public ::testing::TestWithParam<Case> {};

TEST_P(PodCreation, Answer) {
  EXPECT_EQ(TestCluster().Answer({.resource = "pods", .name = "p", .object = GetParam().pod}), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, PodCreation, ::testing::ValuesIn(WithVolumeSources()),
                         [](const auto& info) { return info.param.name; });

TEST(PodCreation, NeedsTheNode) {
  TestCluster cluster;
  cluster.Forget({"", "nodes"});
  EXPECT_EQ(cluster.Answer({.resource = "pods", .name = "p", .object = Mirror()}),
            R"(403 pods "p" is forbidden: error looking up node n1 to verify uid: nodes cannot be read here)");
  cluster.Put({"", "nodes"}, "n2", R"({"metadata":{"name":"n2"}})");
  EXPECT_EQ(cluster.Answer({.resource = "pods", .name = "p", .object = Mirror()}), R"(404 node "n1" not found)");
}

std::string Pod(const std::string& node, const std::string& labels = "", const std::string& status = "") {
  return fmt::format(R"({{"metadata":{{"name":"p","labels":{{{}}}}},"spec":{{"nodeName":"{}"}},"status":{{{}}}}})",
                     labels, node, status);
}
std::string Claims(const std::string& claims) { return Pod("n1", "", R"("resourceClaimStatuses":[)" + claims + "]"); }
std::string Extended(const std::string& fields) {
  return Pod("n1", "", R"("extendedResourceClaimStatus":{)" + fields + "}");
}

struct WriteCase {
  const char* name;
  Write write;
  std::string want;
};
Write Status(std::string old, std::string pod) {
  return {.operation = Operation::kUpdate,
          .resource = "pods/status",
          .name = "p",
          .object = std::move(pod),
          .old_object = std::move(old)};
}
const std::string kClaimsRefused = kRefused + R"(node "n1" cannot update resource claim statues)";
const std::string kExtendedRefused = kRefused + R"(node "n1" cannot update extended resource claim status)";

const WriteCase kWrites[] = {
    {"DeletesItsPod", {.operation = Operation::kDelete, .resource = "pods", .name = "p", .old_object = Pod("n1")}, ""},
    {"DeletesAnotherPod",
     {.operation = Operation::kDelete, .resource = "pods", .name = "p", .old_object = Pod("n2")},
     kRefused + R"(node "n1" can only delete pods with spec.nodeName set to itself)"},
    {"DeletesAPodWithoutNode",
     {.operation = Operation::kDelete, .resource = "pods", .name = "p", .old_object = Pod("")},
     kRefused + R"(node "n1" can only delete pods with spec.nodeName set to itself)"},
    {"UpdatesItsPod",
     {.operation = Operation::kUpdate, .resource = "pods", .name = "p", .object = Pod("n1"), .old_object = Pod("n1")},
     kRefused + R"(unexpected operation "UPDATE", node "n1" can only create and delete mirror pods)"},
    {"Connects", {.operation = Operation::kConnect, .resource = "pods/exec", .name = "p"}, "not asked"},
    {"EphemeralContainers",
     {.operation = Operation::kUpdate,
      .resource = "pods/ephemeralcontainers",
      .name = "p",
      .object = Pod("n1"),
      .old_object = Pod("n1")},
     kRefused + R"(unexpected pod subresource "ephemeralcontainers", only 'status' and 'eviction' are allowed)"},
    {"Resize",
     {.operation = Operation::kUpdate,
      .resource = "pods/resize",
      .name = "p",
      .object = Pod("n1"),
      .old_object = Pod("n1")},
     kRefused + R"(unexpected pod subresource "resize", only 'status' and 'eviction' are allowed)"},
    {"Binding",
     {.resource = "pods/binding", .name = "p", .object = "{}"},
     kRefused + R"(unexpected pod subresource "binding", only 'status' and 'eviction' are allowed)"},

    {"StatusOfItsPod", Status(Pod("n1"), Pod("n1", "", R"("phase":"Running")")), ""},
    {"StatusOfAnotherPod", Status(Pod("n2"), Pod("n2")),
     kRefused + R"(node "n1" can only update pod status for pods with spec.nodeName set to itself)"},
    {"StatusOfAnotherPodThatClaimsToBeIts", Status(Pod("n2"), Pod("n1")),
     kRefused + R"(node "n1" can only update pod status for pods with spec.nodeName set to itself)"},
    {"AddsLabel", Status(Pod("n1"), Pod("n1", R"("a":"b")")),
     kRefused + R"(node "n1" cannot update labels through pod status)"},
    {"RemovesLabel", Status(Pod("n1", R"("a":"b")"), Pod("n1")),
     kRefused + R"(node "n1" cannot update labels through pod status)"},
    {"ChangesLabel", Status(Pod("n1", R"("a":"b")"), Pod("n1", R"("a":"c")")),
     kRefused + R"(node "n1" cannot update labels through pod status)"},
    {"KeepsLabels", Status(Pod("n1", R"("a":"b","c":"d")"), Pod("n1", R"("c":"d","a":"b")")), ""},
    {"CreatesStatus",
     {.resource = "pods/status", .name = "p", .object = Pod("n1")},
     kRefused + R"(unexpected operation "CREATE")"},
    {"KeepsClaims",
     Status(Claims(R"({"name":"a","resourceClaimName":"x"})"), Claims(R"({"name":"a","resourceClaimName":"x"})")), ""},
    {"AddsClaim", Status(Pod("n1"), Claims(R"({"name":"a","resourceClaimName":"x"})")), kClaimsRefused},
    {"RemovesClaim", Status(Claims(R"({"name":"a"})"), Pod("n1")), kClaimsRefused},
    {"NamesClaim", Status(Claims(R"({"name":"a"})"), Claims(R"({"name":"a","resourceClaimName":"x"})")),
     kClaimsRefused},
    {"RenamesClaim",
     Status(Claims(R"({"name":"a","resourceClaimName":"x"})"), Claims(R"({"name":"a","resourceClaimName":"y"})")),
     kClaimsRefused},
    {"SwapsClaims", Status(Claims(R"({"name":"a"},{"name":"b"})"), Claims(R"({"name":"b"},{"name":"a"})")),
     kClaimsRefused},
    {"AddsExtendedClaim", Status(Pod("n1"), Extended(R"("resourceClaimName":"x","requestMappings":[])")),
     kExtendedRefused},
    {"RenamesExtendedClaim", Status(Extended(R"("resourceClaimName":"x")"), Extended(R"("resourceClaimName":"y")")),
     kExtendedRefused},
    {"MapsExtendedClaim",
     Status(Extended(R"("resourceClaimName":"x")"),
            Extended(R"("resourceClaimName":"x","requestMappings":[{"containerName":"c"}])")),
     kExtendedRefused},
    {"KeepsExtendedClaim",
     Status(Extended(R"("resourceClaimName":"x")"), Extended(R"("resourceClaimName":"x","requestMappings":[])")), ""},

    {"EvictsItsPod", {.resource = "pods/eviction", .name = "mine", .object = R"({"metadata":{"name":"mine"}})"}, ""},
    {"EvictsAnotherPod",
     {.resource = "pods/eviction", .name = "other", .object = R"({"metadata":{"name":"mine"}})"},
     R"(403 pods "other" is forbidden: node n1 can only evict pods with spec.nodeName set to itself)"},
    {"EvictsNoPod", {.resource = "pods/eviction", .name = "none", .object = "{}"}, R"(404 pod "none" not found)"},
    {"EvictsWithoutName",
     {.resource = "pods/eviction", .object = "{}"},
     R"(403 pods "Unknown" is forbidden: could not determine pod from request data)"},
    {"UpdatesEviction",
     {.operation = Operation::kUpdate, .resource = "pods/eviction", .name = "p", .object = "{}", .old_object = "{}"},
     kRefused + "unexpected operation UPDATE"},
};

class PodWrites : public ::testing::TestWithParam<WriteCase> {};

TEST_P(PodWrites, Answer) { EXPECT_EQ(TestCluster().Answer(GetParam().write), GetParam().want); }
INSTANTIATE_TEST_SUITE_P(Table, PodWrites, ::testing::ValuesIn(kWrites),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace apimesh::admission::node_restriction
