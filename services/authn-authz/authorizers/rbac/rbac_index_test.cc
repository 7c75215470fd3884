#include "services/authn-authz/authorizers/rbac/rbac_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/authn-authz/testing/questions.h"

namespace apimesh::authn_authz {
namespace {

using fake::Question;
using fake::Show;
using ::testing::ElementsAre;

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

}  // namespace
}  // namespace apimesh::authn_authz
