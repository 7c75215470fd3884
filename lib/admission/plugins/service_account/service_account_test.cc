#include "lib/admission/plugins/service_account/service_account.h"

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMount[] = "/var/run/secrets/kubernetes.io/serviceaccount";

std::string PodWith(const std::string& spec, const std::string& metadata = R"("name":"p")") {
  return fmt::format(R"({{"metadata":{{{}}},"spec":{{{}}}}})", metadata, spec);
}
Write Creates(const std::string& spec, const std::string& metadata = R"("name":"p")") {
  return {.resource = "pods", .object = PodWith(spec, metadata)};
}
Write Debugs(const std::string& spec) {
  return {.operation = Operation::kUpdate,
          .resource = "pods/ephemeralcontainers",
          .name = "p",
          .object = PodWith(spec),
          .old_object = PodWith("")};
}
const char kMirror[] = R"("name":"p","annotations":{"kubernetes.io/config.mirror":"x"})";
const char kEnforced[] = R"("serviceAccountName":"strict","automountServiceAccountToken":false)";
std::string Refused(std::string_view why) { return fmt::format(R"(403 pods "p" is forbidden: {})", why); }
std::string OfStrict(std::string_view what) {
  return Refused(fmt::format("{} is not allowed because service account strict does not reference that secret", what));
}
std::string Strict(const std::string& more) { return kEnforced + ("," + more); }

class ServiceAccounts : public ::testing::TestWithParam<PluginCase> {
 protected:
  ServiceAccounts() {
    cluster_.Put({"", "serviceaccounts"}, "ns/default", R"({"metadata":{"name":"default","namespace":"ns"}})");
    cluster_.Put({"", "serviceaccounts"}, "ns/no-token",
                 R"({"metadata":{"name":"no-token","namespace":"ns"},"automountServiceAccountToken":false})");
    cluster_.Put({"", "serviceaccounts"}, "ns/pulls",
                 R"({"metadata":{"name":"pulls","namespace":"ns"},"imagePullSecrets":[{"name":"a"},{"name":"b"}]})");
    cluster_.Put({"", "serviceaccounts"}, "ns/strict",
                 R"({"metadata":{"name":"strict","namespace":"ns","annotations":{
                    "kubernetes.io/enforce-mountable-secrets":"true"}},
                    "secrets":[{"name":"mine"}],"imagePullSecrets":[{"name":"pull"}]})");
    cluster_.Put({"", "serviceaccounts"}, "ns/lax",
                 R"({"metadata":{"name":"lax","namespace":"ns","annotations":{
                    "kubernetes.io/enforce-mountable-secrets":"no"}}})");
  }
  TestCluster cluster_;
  const std::unique_ptr<Plugin> plugin_ = MakeServiceAccount(cluster_.Inputs());
};

TEST_P(ServiceAccounts, OfPods) { Check(*plugin_, GetParam()); }

const PluginCase kCases[] = {
    {"GivesTheDefaultAccount", Creates(R"("automountServiceAccountToken":false)"), "",
     R"({"spec":{"serviceAccountName":"default","serviceAccount":"default","volumes":null,"imagePullSecrets":null}})"},
    {"KeepsTheNamedAccount", Creates(R"("serviceAccountName":"no-token")"), "",
     R"({"spec":{"serviceAccountName":"no-token","serviceAccount":"no-token","volumes":null}})"},
    {"ReadsTheDeprecatedName", Creates(R"("serviceAccount":"no-token")"), "",
     R"({"spec":{"serviceAccountName":"no-token","serviceAccount":"no-token"}})"},
    {"AddsPullSecrets", Creates(R"("serviceAccountName":"pulls","automountServiceAccountToken":false)"), "",
     R"({"spec":{"imagePullSecrets":[{"name":"a"},{"name":"b"}]}})"},
    {"KeepsPullSecrets", Creates(R"("serviceAccountName":"pulls","imagePullSecrets":[{"name":"own"}])"), "",
     R"({"spec":{"imagePullSecrets":[{"name":"own"}]}})"},
    {"LeavesMirrorPodsAsTheyAre", Creates("", kMirror), "", R"({"spec":{"serviceAccountName":null}})"},
    {"AllowsListedSecrets",
     Creates(Strict(R"("volumes":[{"name":"v","secret":{"secretName":"mine"}}],"imagePullSecrets":[{"name":"pull"}],
       "containers":[{"name":"c","env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"mine","key":"k"}}}]}])")),
     ""},
    {"AllowsAllSecretsOfOtherAccounts",
     Creates(R"("serviceAccountName":"lax","volumes":[{"name":"v","secret":{"secretName":"other"}}])"), ""},
    {"AllowsListedSecretsOfEphemeralContainers",
     Debugs(Strict(R"("ephemeralContainers":[{"name":"c","envFrom":[{"secretRef":{"name":"mine"}}]}])")), ""},
    {"IgnoresOtherChangesOfEphemeralContainers",
     Debugs(
         R"("serviceAccountName":"lax","ephemeralContainers":[{"name":"c","envFrom":[{"secretRef":{"name":"o"}}]}])"),
     ""},
    {"RefusesMissingAccounts", Creates(R"("serviceAccountName":"gone")"),
     Refused(R"(error looking up service account ns/gone: serviceaccount "gone" not found)")},
    {"RefusesNamesThatAreNone", Creates(R"("serviceAccountName":"A/b")"),
     Refused(R"(error looking up service account ns/A/b: invalid resource name "A/b": [may not contain '/'])")},
    {"RefusesMirrorPodsWithAccounts", Creates(R"("serviceAccountName":"default")", kMirror),
     Refused("a mirror pod may not reference service accounts")},
    {"RefusesMirrorPodsWithDeprecatedAccounts", Creates(R"("serviceAccount":"default")", kMirror),
     Refused("a mirror pod may not reference service accounts")},
    {"RefusesMirrorPodsWithSecrets", Creates(R"("volumes":[{"name":"v","secret":{"secretName":"s"}}])", kMirror),
     Refused("a mirror pod may not reference secrets")},
    {"RefusesMirrorPodsWithTokens",
     Creates(R"("volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}])", kMirror),
     Refused("a mirror pod may not use ServiceAccountToken volume projections")},
    {"RefusesOtherVolumes", Creates(Strict(R"("volumes":[{"name":"v","secret":{"secretName":"other"}}])")),
     OfStrict(R"(volume with secret.secretName="other")")},
    {"RefusesOtherVariables",
     Creates(Strict(
         R"("containers":[{"name":"c","env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"o","key":"k"}}}]}])")),
     OfStrict(R"(container c with envVar E referencing secret.secretName="o")")},
    {"RefusesOtherEnvironments",
     Creates(Strict(R"("initContainers":[{"name":"i","envFrom":[{"secretRef":{"name":"o"}}]}])")),
     OfStrict(R"(init container i with envFrom referencing secret.secretName="o")")},
    {"RefusesOtherPullSecrets", Creates(Strict(R"("imagePullSecrets":[{"name":"pull"},{"name":"o"}])")),
     Refused(R"(imagePullSecrets[1].name="o" is not allowed because service account strict does not reference that )"
             "imagePullSecret")},
    {"RefusesOtherSecretsOfEphemeralContainers",
     Debugs(Strict(R"("ephemeralContainers":[{"name":"d","envFrom":[{"secretRef":{"name":"o"}}]}])")),
     R"(500 ephemeral container d with envFrom referencing secret.secretName="o" is not allowed because service account )"
     "strict does not reference that secret"},
    {"RefusesEphemeralContainersWithoutAccount", Debugs(""), Refused("no service account specified for pod ns/p")},
};
INSTANTIATE_TEST_SUITE_P(Table, ServiceAccounts, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST_F(ServiceAccounts, MountsATokenIntoEveryContainer) {
  const Outcome outcome = TestCluster::Run(
      *plugin_, Creates(R"("containers":[{"name":"a"},{"name":"b","volumeMounts":[{"name":"x","mountPath":"/x"}]}],
                           "initContainers":[{"name":"i"}])"));
  EXPECT_EQ(outcome.error, "");
  const meta::json::value spec = outcome.object.Root().at("spec");
  const meta::json::object& volume = spec.at_pointer("/volumes/0").as_object();
  const std::string name(volume.at("name").as_string());
  EXPECT_THAT(name, ::testing::StartsWith("kube-api-access-"));
  EXPECT_EQ(name.size(), 21u);
  const meta::json::value mount = {{"name", name}, {"readOnly", true}, {"mountPath", kMount}};
  EXPECT_EQ(spec.at_pointer("/containers/0/volumeMounts/0"), mount);
  EXPECT_EQ(spec.at_pointer("/containers/1/volumeMounts/1"), mount);
  EXPECT_EQ(spec.at_pointer("/initContainers/0/volumeMounts/0"), mount);
  EXPECT_EQ(boost::json::serialize(volume.at("projected")),
            R"({"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},)"
            R"({"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},)"
            R"({"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":)"
            R"("metadata.namespace"}}]}}],"defaultMode":420})");
}

TEST_F(ServiceAccounts, KeepsMountsAndVolumesOfTheClient) {
  const Outcome mounted = TestCluster::Run(
      *plugin_, Creates(fmt::format(R"("containers":[{{"name":"a","volumeMounts":[{{"name":"x","mountPath":"{}"}}]}}])",
                                    kMount)));
  EXPECT_THAT(mounted.Json(), Not(HasSubstr("kube-api-access")));
  const Outcome brought = TestCluster::Run(
      *plugin_, Creates(R"("volumes":[{"name":"kube-api-access-own","emptyDir":{}}],"containers":[{"name":"a"}])"));
  EXPECT_EQ(brought.object.Root().at("spec").at_pointer("/volumes").as_array().size(), 1u);
  EXPECT_THAT(brought.Json(), HasSubstr(R"("volumeMounts":[{"name":"kube-api-access-own")"));
}

TEST_F(ServiceAccounts, ThePodDecidesWhetherATokenIsMounted) {
  const auto mounts = [&](const std::string& spec) {
    return TestCluster::Run(*plugin_, Creates(spec + R"(,"containers":[{"name":"a"}])"))
               .Json()
               .find("kube-api-access") != std::string::npos;
  };
  EXPECT_TRUE(mounts(R"("serviceAccountName":"no-token","automountServiceAccountToken":true)"));
  EXPECT_FALSE(mounts(R"("serviceAccountName":"no-token")"));
  EXPECT_FALSE(mounts(R"("serviceAccountName":"default","automountServiceAccountToken":false)"));
  EXPECT_TRUE(mounts(R"("serviceAccountName":"default")"));
}

TEST_F(ServiceAccounts, OtherWritesAreNotChecked) {
  EXPECT_FALSE(TestCluster::Run(*plugin_, {.resource = "pods/binding", .object = "{}"}).asked);
  EXPECT_FALSE(TestCluster::Run(*plugin_, {.resource = "deployments.apps", .object = "{}"}).asked);
  EXPECT_FALSE(TestCluster::Run(*plugin_, {.operation = Operation::kUpdate, .resource = "pods", .object = "{}"}).asked);
}

TEST_F(ServiceAccounts, RefusesPodsIfAccountsCannotBeRead) {
  const std::unique_ptr<Plugin> blind = MakeServiceAccount({});
  EXPECT_THAT(TestCluster::Run(*blind, Creates("")).error, HasSubstr("service accounts cannot be read here"));
}

}  // namespace
}  // namespace apimesh::admission
