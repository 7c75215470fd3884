#include "services/authn-authz/authorizers/denial.h"

#include <gtest/gtest.h>

#include "services/authn-authz/testing/questions.h"

namespace apimesh::authn_authz {
namespace {

using fake::Question;

TEST(Denial, TextsOfTheReference) {
  EXPECT_EQ(DenialText(Question("x", {}, "list pods/log default/p")),
            "User \"x\" cannot list resource \"pods/log\" in API group \"\" in the namespace \"default\"");
  EXPECT_EQ(DenialText(Question("x", {}, "list nodes")),
            "User \"x\" cannot list resource \"nodes\" in API group \"\" at the cluster scope");
  EXPECT_EQ(DenialText(Question("x", {}, "get /metrics")), "User \"x\" cannot get path \"/metrics\"");
}

}  // namespace
}  // namespace apimesh::authn_authz
