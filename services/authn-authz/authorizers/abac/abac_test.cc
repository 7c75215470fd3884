#include "services/authn-authz/authorizers/abac/abac.h"

#include <gtest/gtest.h>

#include "services/authn-authz/testing/questions.h"

namespace apimesh::authn_authz {
namespace {

using fake::Question;
using fake::Show;

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

}  // namespace
}  // namespace apimesh::authn_authz
