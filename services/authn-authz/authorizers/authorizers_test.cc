#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/authn-authz/authorizers/abac/abac.h"
#include "services/authn-authz/authorizers/always/always.h"
#include "services/authn-authz/authorizers/denial.h"
#include "services/authn-authz/authorizers/node/node.h"
#include "services/authn-authz/authorizers/rbac/rbac_index.h"
#include "services/authn-authz/authorizers/union.h"

namespace apimesh::authn_authz {
namespace {

using ::testing::ElementsAre;

/// Parses "list pods/log.apps ns/name" or "get /path".
Attributes Question(std::string user, std::vector<std::string> groups, std::string_view text) {
  Attributes a;
  a.user = {std::move(user), "", std::move(groups), {}};
  const std::size_t space = text.find(' ');
  a.verb = text.substr(0, space);
  text.remove_prefix(space + 1);
  if (text.starts_with('/')) {
    a.path = text;
    return a;
  }
  a.is_resource_request = true;
  const std::size_t end = text.find(' ');
  std::string_view resource = text.substr(0, end);
  if (const std::size_t dot = resource.find('.'); dot != resource.npos) {
    a.api_group = resource.substr(dot + 1);
    resource = resource.substr(0, dot);
  }
  const std::size_t slash = resource.find('/');
  a.resource = resource.substr(0, slash);
  if (slash != resource.npos) a.subresource = resource.substr(slash + 1);
  if (end != text.npos) {
    const std::string_view target = text.substr(end + 1);
    const std::size_t bar = target.find('/');
    a.ns = target.substr(0, bar);
    if (bar != target.npos) a.name = target.substr(bar + 1);
  }
  return a;
}

std::string Show(const Decision& decision) {
  const char* words[] = {"allow", "deny", "no opinion"};
  return std::string(words[static_cast<int>(decision.verdict)]) +
         (decision.reason.empty() ? "" : ": " + decision.reason);
}

class RbacTest : public ::testing::Test {
 protected:
  RbacTest() {
    index_.SetRole("", "admin", {{{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}}});
    index_.SetRole("", "view", {{{{"get", "list", "watch"}, {""}, {"pods", "pods/log"}, {}, {}}}});
    index_.SetRole("", "info", {{{{"get"}, {}, {}, {}, {"/healthz", "/livez/*", "/version"}}}});
    index_.SetRole("a", "one-secret", {{{{"get"}, {""}, {"secrets"}, {"s1", "s2"}, {}}}});
    index_.SetRole("", "scaler", {{{{"update"}, {"apps"}, {"*/scale"}, {}, {}}}});
    index_.SetBinding({"", "root", {"ClusterRole", "admin"}, {{"User", "", "root"}}});
    index_.SetBinding({"", "public", {"ClusterRole", "info"}, {{"Group", "", "system:unauthenticated"}}});
    index_.SetBinding({"a",
                       "viewers",
                       {"ClusterRole", "view"},
                       {{"User", "", "x"}, {"Group", "", "team"}, {"ServiceAccount", "", "bot"}}});
    index_.SetBinding({"a", "secret", {"Role", "one-secret"}, {{"User", "", "alice"}}});
    index_.SetBinding({"", "scale", {"ClusterRole", "scaler"}, {{"ServiceAccount", "a", "bot"}}});
    index_.SetBinding({"a", "broken", {"Role", "missing"}, {{"User", "", "eve"}}});
  }
  std::string Ask(std::string user, std::vector<std::string> groups, std::string_view text) {
    return Show(index_.Decide(Question(std::move(user), std::move(groups), text)));
  }
  RbacIndex index_;
};

TEST_F(RbacTest, AllowsWhatRolesSay) {
  const std::string bot = "system:serviceaccount:a:bot";
  EXPECT_EQ(Ask("root", {}, "delete things.example.com z/q"),
            "allow: RBAC: allowed by ClusterRoleBinding \"root\" of ClusterRole \"admin\" to User \"root\"");
  EXPECT_EQ(Ask("root", {}, "post /anything"), Ask("root", {}, "get pods"));
  EXPECT_EQ(Ask("joe", {"team"}, "list pods a"),
            "allow: RBAC: allowed by RoleBinding \"viewers/a\" of ClusterRole \"view\" to Group \"team\"");
  EXPECT_EQ(Ask(bot, {}, "get pods/log a/p"),
            "allow: RBAC: allowed by RoleBinding \"viewers/a\" of ClusterRole \"view\" to ServiceAccount \"bot/a\"");
  EXPECT_EQ(Ask("joe", {"team"}, "list pods b"), "no opinion");
  EXPECT_EQ(Ask("joe", {"team"}, "list pods"), "no opinion");
  EXPECT_EQ(Ask("joe", {"team"}, "get pods/exec a/p"), "no opinion");
  EXPECT_THAT(Ask("alice", {}, "get secrets a/s1"), ::testing::StartsWith("allow"));
  EXPECT_EQ(Ask("alice", {}, "get secrets a/s3"), "no opinion");
  EXPECT_EQ(Ask("alice", {}, "list secrets a"), "no opinion");
  EXPECT_THAT(Ask(bot, {}, "update deployments/scale.apps b/d"), ::testing::StartsWith("allow"));
  EXPECT_EQ(Ask(bot, {}, "update deployments.apps b/d"), "no opinion");
  EXPECT_EQ(Ask("system:serviceaccount:b:bot", {}, "list pods a"), "no opinion");
}

TEST_F(RbacTest, NonResourceUrls) {
  EXPECT_THAT(Ask("system:anonymous", {"system:unauthenticated"}, "get /healthz"), ::testing::StartsWith("allow"));
  EXPECT_THAT(Ask("system:anonymous", {"system:unauthenticated"}, "get /livez/ping"), ::testing::StartsWith("allow"));
  EXPECT_EQ(Ask("system:anonymous", {"system:unauthenticated"}, "get /metrics"), "no opinion");
  EXPECT_EQ(Ask("system:anonymous", {"system:unauthenticated"}, "post /healthz"), "no opinion");
}

TEST_F(RbacTest, SaysWhichRoleIsMissing) {
  EXPECT_EQ(Ask("eve", {}, "get pods a/p"), "no opinion: RBAC: role.rbac.authorization.k8s.io \"missing\" not found");
}

TEST_F(RbacTest, ChangesTakeEffectAtOnce) {
  EXPECT_TRUE(index_.SetRole("", "view", {{{{"get"}, {""}, {"nodes"}, {}, {}}}}));
  EXPECT_FALSE(index_.SetRole("", "view", {{{{"get"}, {""}, {"nodes"}, {}, {}}}}));
  EXPECT_EQ(Ask("joe", {"team"}, "list pods a"), "no opinion");
  EXPECT_TRUE(index_.RemoveBinding("", "root"));
  EXPECT_FALSE(index_.RemoveBinding("", "root"));
  EXPECT_EQ(Ask("root", {}, "get pods"), "no opinion");
  EXPECT_TRUE(index_.SetBinding({"a", "secret", {"Role", "one-secret"}, {{"User", "", "bob"}}}));
  EXPECT_EQ(Ask("alice", {}, "get secrets a/s1"), "no opinion");
  EXPECT_THAT(Ask("bob", {}, "get secrets a/s1"), ::testing::StartsWith("allow"));
}

// Many rules in one scope are found by the hash index, which must agree with the rules.
TEST_F(RbacTest, TheIndexAgreesWithTheRules) {
  for (int i = 0; i < 200; ++i) {
    const std::string n = std::to_string(i);
    index_.SetRole("a", "r" + n,
                   {{{{"get", "update"}, {"g" + n, "*"}, {"res" + n, "*/sub" + n}, {}, {}},
                     {{"*"}, {""}, {"secrets"}, {"s" + n}, {}}}});
    index_.SetBinding({"a", "b" + n, {"Role", "r" + n}, {{"User", "", "many"}}});
  }
  EXPECT_THAT(Ask("many", {}, "get secrets a/s150"), ::testing::HasSubstr("\"b150/a\""));
  EXPECT_EQ(Ask("many", {}, "get secrets a/s200"), "no opinion");
  EXPECT_EQ(Ask("many", {}, "list secrets a"), "no opinion");
  EXPECT_THAT(Ask("many", {}, "update res7.anything a/x"), ::testing::HasSubstr("\"b7/a\""));
  EXPECT_THAT(Ask("many", {}, "update pods/sub9 a/x"), ::testing::HasSubstr("\"b9/a\""));
  EXPECT_EQ(Ask("many", {}, "delete res7.g7 a/x"), "no opinion");
  index_.SetRole("a", "r150", std::nullopt);
  EXPECT_EQ(Ask("many", {}, "get secrets a/s150"),
            "no opinion: RBAC: role.rbac.authorization.k8s.io \"r150\" not found");
}

TEST_F(RbacTest, ListsRules) {
  RuleList rules;
  index_.AddRules({"alice", "", {"team", "system:unauthenticated"}, {}}, "a", rules);
  EXPECT_EQ(rules.resource_rules.size(), 2u);
  ASSERT_EQ(rules.non_resource_rules.size(), 1u);
  EXPECT_THAT(rules.non_resource_rules[0].paths, ElementsAre("/healthz", "/livez/*", "/version"));
}

struct NodeCase {
  const char* question;
  const char* want;
};
const NodeCase kNodeCases[] = {
    {"get secrets ns/pull", "allow"},
    {"list secrets ns/pull", "allow"},
    {"get secrets ns/other", "no opinion: no relationship found between node 'n1' and this object"},
    {"list secrets ns", "no opinion: No Object name found"},
    {"update secrets ns/pull", "no opinion: can only read resources of this type"},
    {"get configmaps ns/cm", "allow"},
    {"get persistentvolumeclaims ns/claim", "allow"},
    {"patch persistentvolumeclaims/status ns/claim", "allow"},
    {"get persistentvolumes /pv", "allow"},
    {"get secrets ns/pv-secret", "allow"},
    {"get serviceaccounts ns/sa", "allow"},
    {"create serviceaccounts/token ns/sa", "allow"},
    {"create serviceaccounts/token ns/sa2", "no opinion: no relationship found between node 'n1' and this object"},
    {"create serviceaccounts ns/sa", "no opinion: can only create token subresource of serviceaccount"},
    {"get nodes /n1", "allow"},
    {"get nodes /n2", "no opinion: node 'n1' cannot read 'n2', only its own Node object"},
    {"list nodes", "no opinion: node 'n1' cannot read all nodes, only its own Node object"},
    {"delete nodes /n1", "no opinion"},
    {"patch nodes/status /n1", "allow"},
    {"get pods ns/p1", "allow"},
    {"get pods ns/p2", "no opinion: no relationship found between node 'n1' and this object"},
    {"list pods", "no opinion: can only list/watch pods with spec.nodeName field selector"},
    {"create pods/eviction ns/p2", "allow"},
    {"get leases.coordination.k8s.io kube-node-lease/n1", "allow"},
    {"get leases.coordination.k8s.io kube-node-lease/n2",
     "no opinion: can only access node lease with the same name as the requesting node"},
    {"get leases.coordination.k8s.io ns/n1",
     "no opinion: can only access leases in the \"kube-node-lease\" system namespace"},
    {"get csinodes.storage.k8s.io /n1", "allow"},
    {"get volumeattachments.storage.k8s.io /va", "allow"},
    {"create events ns", "allow"},
    {"list services", "allow"},
    {"list deployments.apps", "no opinion"},
    {"list resourceslices.resource.k8s.io",
     "no opinion: can only list/watch/deletecollection resourceslices with nodeName field selector"},
};
class NodeAuthorizerTable : public ::testing::TestWithParam<NodeCase> {
 protected:
  NodeAuthorizerTable() {
    const auto object = [](const char* text) { return boost::json::parse(text).as_object(); };
    graph_->SetPod(
        object(R"({"metadata":{"namespace":"ns","name":"p1"},"spec":{"nodeName":"n1","serviceAccountName":"sa",
      "imagePullSecrets":[{"name":"pull"}],"containers":[{"envFrom":[{"configMapRef":{"name":"cm"}}]}],
      "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"claim"}}]}})"));
    graph_->SetPod(
        object(R"({"metadata":{"namespace":"ns","name":"p2"},"spec":{"nodeName":"n2","serviceAccountName":"sa2",
      "imagePullSecrets":[{"name":"other"}]}})"));
    graph_->SetPersistentVolume(
        object(R"({"metadata":{"name":"pv"},"spec":{"claimRef":{"namespace":"ns","name":"claim"},
      "csi":{"nodeStageSecretRef":{"namespace":"ns","name":"pv-secret"}}}})"));
    graph_->SetObjectOfNode(GraphKind::kVolumeAttachment,
                            object(R"({"metadata":{"name":"va"},"spec":{"nodeName":"n1"}})"));
  }
  std::shared_ptr<NodeGraph> graph_ = std::make_shared<NodeGraph>();
};
TEST_P(NodeAuthorizerTable, Decides) {
  const auto authorizer = NewNodeAuthorizer(graph_);
  EXPECT_EQ(Show(*authorizer->DecideNow(Question("system:node:n1", {"system:nodes"}, GetParam().question))),
            GetParam().want);
  EXPECT_EQ(Show(*authorizer->DecideNow(Question("system:node:n1", {}, GetParam().question))), "no opinion");
}
INSTANTIATE_TEST_SUITE_P(Table, NodeAuthorizerTable, ::testing::ValuesIn(kNodeCases));

TEST_F(NodeAuthorizerTable, FollowsFeatureGates) {
  graph_->SetObjectOfNode(
      GraphKind::kPodCertificateRequest,
      boost::json::parse(R"({"metadata":{"namespace":"ns","name":"c"},"spec":{"nodeName":"n1"}})").as_object());
  const auto decide = [&](const char* gates, std::string_view question, bool selects = false) {
    const auto authorizer = NewNodeAuthorizer(graph_, features::FeatureGates(std::vector<std::string>{gates}));
    Attributes attributes = Question("system:node:n1", {"system:nodes"}, question);
    if (selects) attributes.field_requirements = {{"spec.nodeName", "=", {"n1"}}};
    return Show(*authorizer->DecideNow(attributes));
  };
  constexpr const char* kOff = "KubeletServiceAccountTokenForCredentialProviders=false";
  constexpr const char* kOn = "PodCertificateRequest=true";
  const std::string requests = "podcertificaterequests.certificates.k8s.io";
  EXPECT_EQ(decide(kOff, "get serviceaccounts ns/sa"), "no opinion: not allowed to get service accounts");
  EXPECT_EQ(decide(kOff, "create serviceaccounts/token ns/sa"), "allow");
  EXPECT_EQ(decide(kOff, "get " + requests + " ns/c"), "no opinion");
  EXPECT_EQ(decide(kOn, "get serviceaccounts ns/sa"), "allow");
  EXPECT_EQ(decide(kOn, "create " + requests + " ns"), "allow");
  EXPECT_EQ(decide(kOn, "get " + requests + " ns/c"), "allow");
  EXPECT_EQ(decide(kOn, "get " + requests + " ns/d"),
            "no opinion: no relationship found between node 'n1' and this object");
  EXPECT_EQ(decide(kOn, "list " + requests, true), "allow");
  EXPECT_EQ(decide(kOn, "list " + requests),
            "no opinion: can only list/watch podcertificaterequests with nodeName field selector");
  EXPECT_EQ(decide(kOn, "update podcertificaterequests/status.certificates.k8s.io ns/c").substr(0, 10), "no opinion");
  EXPECT_EQ(decide(kOn, "delete " + requests + " ns/c"), "no opinion: nodes may not delete podcertificaterequests");
}

TEST_F(NodeAuthorizerTable, FollowsChangesAndSelectors) {
  const auto authorizer = NewNodeAuthorizer(graph_);
  Attributes list = Question("system:node:n1", {"system:nodes"}, "list pods");
  list.field_requirements = {{"spec.nodeName", "=", {"n1"}}};
  EXPECT_EQ(Show(*authorizer->DecideNow(list)), "allow");
  graph_->Remove(GraphKind::kPod, "ns", "p1");
  EXPECT_THAT(Show(*authorizer->DecideNow(Question("system:node:n1", {"system:nodes"}, "get secrets ns/pull"))),
              ::testing::StartsWith("no opinion"));
  EXPECT_THAT(Show(*authorizer->DecideNow(Question("system:node:n1", {"system:nodes"}, "get secrets ns/pv-secret"))),
              ::testing::StartsWith("no opinion"));
}

TEST(Abac, ReadsBothFormsAndMatches) {
  const auto policies = ParseAbacFile(
      "# comment\n\n"
      R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"alice","namespace":"*","resource":"pods","apiGroup":"*","readonly":true}})"
      "\n"
      R"({"user":"bob","namespace":"ns1"})"
      "\n"
      R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"group":"system:unauthenticated","nonResourcePath":"/healthz*","readonly":true}})",
      "f");
  ASSERT_TRUE(policies) << policies.error().Message();
  const auto abac = NewAbac(*policies);
  const auto ask = [&](std::string user, std::vector<std::string> groups, std::string_view text) {
    return Show(*abac->DecideNow(Question(std::move(user), std::move(groups), text)));
  };
  EXPECT_EQ(ask("alice", {}, "get pods x/y"), "allow");
  EXPECT_EQ(ask("alice", {}, "delete pods x/y"), "no opinion: No policy matched.");
  EXPECT_EQ(ask("bob", {}, "delete things.g ns1/y"), "allow");
  EXPECT_EQ(ask("bob", {}, "get things.g ns2/y"), "no opinion: No policy matched.");
  EXPECT_EQ(ask("x", {"system:unauthenticated"}, "get /healthz/ping"), "allow");
  EXPECT_FALSE(ParseAbacFile("{", "f"));
  EXPECT_FALSE(ParseAbacFile(R"({"user":1})", "f"));
  EXPECT_FALSE(ParseAbacFile(R"({"kind":"Other","apiVersion":"x/v1"})", "f"));
}

TEST(Union, FirstOpinionWinsAndReasonsAreJoined) {
  std::vector<std::unique_ptr<Authorizer>> parts;
  parts.push_back(NewPrivilegedGroup("system:masters"));
  parts.push_back(NewAbac({}));
  parts.push_back(NewAlwaysDeny());
  const auto chain = NewAuthorizerUnion(std::move(parts));
  EXPECT_EQ(Show(*chain->DecideNow(Question("a", {"system:masters"}, "get pods"))), "allow");
  EXPECT_EQ(Show(*chain->DecideNow(Question("a", {}, "get pods"))),
            "no opinion: No policy matched.\nEverything is forbidden.");
}

TEST(Denial, TextsOfTheReference) {
  EXPECT_EQ(DenialText(Question("x", {}, "list pods/log default/p")),
            "User \"x\" cannot list resource \"pods/log\" in API group \"\" in the namespace \"default\"");
  EXPECT_EQ(DenialText(Question("x", {}, "list nodes")),
            "User \"x\" cannot list resource \"nodes\" in API group \"\" at the cluster scope");
  EXPECT_EQ(DenialText(Question("x", {}, "get /metrics")), "User \"x\" cannot get path \"/metrics\"");
}

}  // namespace
}  // namespace apimesh::authn_authz
