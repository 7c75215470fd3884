#include "services/authn-authz/authenticators/anonymous/anonymous.h"

#include <gtest/gtest.h>

#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::Show;

TEST(Anonymous, MayBeLimitedToPaths) {
  auto credentials = std::make_shared<Credentials>();
  credentials->path = "/livez";
  EXPECT_EQ(Show(Await(NewAnonymous({})->Authenticate(credentials))), "user: system:anonymous");
  EXPECT_EQ(Show(Await(NewAnonymous({"/livez"})->Authenticate(credentials))), "user: system:anonymous");
  EXPECT_EQ(Show(Await(NewAnonymous({"/healthz"})->Authenticate(credentials))), "not mine");
}

}  // namespace
}  // namespace apimesh::authn_authz
