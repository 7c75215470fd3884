#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "services/core-api/bootstrap/data.h"
#include "services/core-api/bootstrap/kubernetes_service.h"
#include "services/core-api/bootstrap/policies.h"
#include "services/core-api/bootstrap/rbac_reconcile.h"
#include "services/core-api/bootstrap/system_objects.h"

namespace apimesh::core_api {
namespace {

meta::Object Parse(std::string_view text) { return meta::Object(codec::ParseJson(text, {})->as_object()); }
std::string Text(const meta::json::value& value) { return codec::WriteJson(value); }

TEST(BootstrapData, HasTheReferencesNumberOfObjects) {
  const std::pair<BootstrapFile, std::size_t> cases[] = {
      {BootstrapFile::kClusterRoles, 69},  {BootstrapFile::kClusterRoleBindings, 50},
      {BootstrapFile::kRoles, 7},          {BootstrapFile::kRoleBindings, 7},
      {BootstrapFile::kFlowSchemas, 11},   {BootstrapFile::kPriorityLevels, 8},
      {BootstrapFile::kPriorityClasses, 2}};
  for (const auto& [file, count] : cases) EXPECT_EQ(BootstrapObjects(file).size(), count);
}

std::string RuleOf(const std::vector<meta::Object>& roles, std::string_view role, std::string_view resource) {
  std::string found;
  for (const meta::Object& one : roles) {
    if (one.Name() != role) continue;
    for (const meta::json::value& rule : meta::FindField(one.Root(), "rules")->get_array()) {
      const std::string text = Text(rule);
      if (text.find('"' + std::string(resource) + '"') != std::string::npos) found += text;
    }
  }
  return found;
}

TEST(BootstrapData, TheDefaultsOfGatesDoNotChangeThePolicy) {
  for (const BootstrapFile file : {BootstrapFile::kClusterRoles, BootstrapFile::kClusterRoleBindings}) {
    const std::vector<meta::Object> wanted = BootstrapObjects(file), found = ClusterPolicy(file, {});
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(Text(found[i].Root()), Text(wanted[i].Root()));
  }
}

TEST(BootstrapData, GatesChangeThePolicy) {
  const features::FeatureGates gates({"DRADeviceTaintRules=true", "DRAResourceClaimGranularStatusAuthorization=false",
                                      "DRAResourcePoolStatus=true", "ComponentFlagz=false"});
  const std::vector<meta::Object> roles = ClusterPolicy(BootstrapFile::kClusterRoles, gates);
  EXPECT_EQ(roles.size(), BootstrapObjects(BootstrapFile::kClusterRoles).size() + 1);
  EXPECT_EQ(ClusterPolicy(BootstrapFile::kClusterRoleBindings, gates).size(),
            BootstrapObjects(BootstrapFile::kClusterRoleBindings).size() + 1);
  EXPECT_EQ(RuleOf(roles, "system:kube-scheduler", "resourceclaims/binding"), "");
  EXPECT_EQ(RuleOf(roles, "system:kube-scheduler", "devicetaintrules"),
            R"({"apiGroups":["resource.k8s.io"],"resources":["devicetaintrules"],"verbs":["get","list","watch"]})");
  EXPECT_NE(RuleOf(roles, "system:controller:resourcepoolstatusrequest-controller", "resourceslices"), "");
  EXPECT_EQ(RuleOf(roles, "system:monitoring", "/flagz"), "");
  EXPECT_NE(RuleOf(roles, "system:monitoring", "/statusz"), "");
}

TEST(RbacReconcile, UncoveredRules) {
  struct Case {
    const char *owned, *wanted, *uncovered;
  };
  const Case cases[] = {
      {R"([])", R"([])", R"([])"},
      {R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])",
       R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]}])", R"([])"},
      {R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])",
       R"([{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}])",
       R"([{"verbs":["list"],"apiGroups":[""],"resources":["pods"]}])"},
      {R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]}])",
       R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])",
       R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])"},
      {R"([{"verbs":["get"],"apiGroups":[""],"resources":["*/status"]}])",
       R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods/status"]}])", R"([])"},
      {R"([{"verbs":["get"],"nonResourceURLs":["/healthz/*"]}])",
       R"([{"verbs":["get"],"nonResourceURLs":["/healthz/etcd","/livez"]}])",
       R"([{"verbs":["get"],"nonResourceURLs":["/livez"]}])"},
  };
  for (const Case& c : cases) {
    const meta::json::value owned = *codec::ParseJson(c.owned, {}), wanted = *codec::ParseJson(c.wanted, {});
    EXPECT_EQ(Text(UncoveredRules(owned.as_array(), wanted.as_array())), c.uncovered) << c.wanted;
  }
}

TEST(RbacReconcile, RolesAreExtendedAndNeverReduced) {
  const meta::Object wanted = Parse(
      R"({"metadata":{"name":"r","labels":{"a":"1"}},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  const meta::Object more = Parse(
      R"({"metadata":{"name":"r","labels":{"a":"other","b":"2"}},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})");
  EXPECT_FALSE(ReconcileRole(more, wanted));
  const auto extended = ReconcileRole(
      Parse(R"({"metadata":{"name":"r"},"rules":[{"verbs":["list"],"apiGroups":[""],"resources":["pods"]}]})"), wanted);
  ASSERT_TRUE(extended);
  EXPECT_EQ(meta::Find(extended->Root(), "rules")->as_array().size(), 2u);
  EXPECT_EQ(*extended->Label("a"), "1");
  EXPECT_FALSE(ReconcileRole(
      Parse(
          R"({"metadata":{"name":"r","annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},"rules":[]})"),
      wanted));
}

TEST(RbacReconcile, BindingsGetTheirSubjectsAndAreMadeAgainForAnotherRole) {
  const meta::Object wanted = Parse(R"({"metadata":{"name":"b"},"roleRef":{"name":"r"},"subjects":[{"name":"x"}]})");
  EXPECT_FALSE(ReconcileBinding(
      Parse(R"({"metadata":{"name":"b"},"roleRef":{"name":"r"},"subjects":[{"name":"y"},{"name":"x"}]})"), wanted));
  const auto added = ReconcileBinding(Parse(R"({"metadata":{"name":"b"},"roleRef":{"name":"r"}})"), wanted);
  ASSERT_TRUE(added);
  EXPECT_FALSE(added->recreate);
  EXPECT_EQ(Text(*meta::Find(added->object.Root(), "subjects")), R"([{"name":"x"}])");
  EXPECT_TRUE(ReconcileBinding(Parse(R"({"metadata":{"name":"b"},"roleRef":{"name":"q"}})"), wanted)->recreate);
}

TEST(FlowControl, FollowsUnlessItsOwnerTookItOver) {
  const meta::Object wanted = Parse(R"({"metadata":{"name":"probes"},"spec":{"a":1}})");
  EXPECT_TRUE(ReconcileFlowControl(
      Parse(
          R"({"metadata":{"name":"probes","annotations":{"apf.kubernetes.io/autoupdate-spec":"true"}},"spec":{"a":2}})"),
      wanted));
  EXPECT_FALSE(ReconcileFlowControl(
      Parse(
          R"({"metadata":{"name":"probes","annotations":{"apf.kubernetes.io/autoupdate-spec":"true"}},"spec":{"a":1}})"),
      wanted));
  EXPECT_FALSE(ReconcileFlowControl(
      Parse(
          R"({"metadata":{"name":"probes","annotations":{"apf.kubernetes.io/autoupdate-spec":"false"}},"spec":{"a":2}})"),
      wanted));
  const meta::Object exempt = Parse(R"({"metadata":{"name":"exempt"},"spec":{"a":1}})");
  EXPECT_TRUE(ReconcileFlowControl(
      Parse(
          R"({"metadata":{"name":"exempt","annotations":{"apf.kubernetes.io/autoupdate-spec":"false"}},"spec":{"a":2}})"),
      exempt));
}

TEST(KubernetesService, FirstAddressOfTheRange) {
  const std::pair<const char*, std::optional<std::string>> cases[] = {{"10.0.0.0/24", "10.0.0.1"},
                                                                      {"10.0.0.77/24", "10.0.0.1"},
                                                                      {"172.16.255.255/16", "172.16.0.1"},
                                                                      {"fd00:10::/108", "fd00:10::1"},
                                                                      {"10.0.0.0", std::nullopt},
                                                                      {"10.0.0.0/33", std::nullopt},
                                                                      {"x/8", std::nullopt}};
  for (const auto& [cidr, address] : cases) EXPECT_EQ(FirstServiceAddress(cidr), address) << cidr;
}

TEST(KubernetesService, EndpointSliceHasOneFamily) {
  const meta::Object slice = KubernetesEndpointSlice({"10.1.1.1", "fd00::1"}, 6443);
  EXPECT_EQ(meta::FindString(slice.Root(), "addressType"), "IPv4");
  EXPECT_EQ(meta::Find(slice.Root(), "endpoints")->as_array().size(), 1u);
  EXPECT_EQ(meta::FindString(KubernetesEndpointSlice({"fd00::1"}, 6443).Root(), "addressType"), "IPv6");
}

TEST(SystemObjects, AuthenticationInfoIsMerged) {
  const std::string a = "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n",
                    b = "-----BEGIN CERTIFICATE-----\nB\n-----END CERTIFICATE-----\n";
  const auto merged =
      MergeAuthenticationInfo({{"client-ca-file", a}, {"requestheader-allowed-names", R"(["x"])"}},
                              {{"client-ca-file", b}, {"requestheader-allowed-names", R"(["y","x"])"}, {"k", "v"}});
  EXPECT_EQ(merged.at("client-ca-file"), a + b);
  EXPECT_EQ(merged.at("requestheader-allowed-names"), R"(["x","y"])");
  EXPECT_EQ(merged.at("k"), "v");
}

TEST(SystemObjects, IdentityLeaseIsNamedAfterTheMachine) {
  EXPECT_EQ(IdentityLeaseName("node-1").size(), std::string("apiserver-").size() + 26);
  EXPECT_NE(IdentityLeaseName("node-1"), IdentityLeaseName("node-2"));
}

}  // namespace
}  // namespace apimesh::core_api
