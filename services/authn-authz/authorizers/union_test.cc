#include "services/authn-authz/authorizers/union.h"

#include <gtest/gtest.h>

#include "services/authn-authz/authorizers/abac/abac.h"
#include "services/authn-authz/authorizers/always/always.h"
#include "services/authn-authz/testing/questions.h"

namespace apimesh::authn_authz {
namespace {

using fake::Question;
using fake::Show;

TEST(AuthorizerUnion, FirstOpinionWinsAndReasonsAreJoined) {
  std::vector<std::unique_ptr<Authorizer>> parts;
  parts.push_back(NewPrivilegedGroup("system:masters"));
  parts.push_back(NewAbac({}));
  parts.push_back(NewAlwaysDeny());
  const auto chain = NewAuthorizerUnion(std::move(parts));
  EXPECT_EQ(Show(*chain->DecideNow(Question("a", {"system:masters"}, "get pods"))), "allow");
  EXPECT_EQ(Show(*chain->DecideNow(Question("a", {}, "get pods"))),
            "no opinion: No policy matched.\nEverything is forbidden.");
}

}  // namespace
}  // namespace apimesh::authn_authz
