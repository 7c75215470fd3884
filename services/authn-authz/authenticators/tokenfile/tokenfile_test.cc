#include "services/authn-authz/authenticators/tokenfile/tokenfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::Show;
using fake::Token;
using ::testing::ElementsAre;

std::unique_ptr<TokenAuthenticator> File(std::string_view csv) { return std::move(NewTokenFile(csv, "f").value()); }

TEST(TokenFile, ReadsUsersAndGroups) {
  const auto file = File("t1,alice,u1,\"a,b\"\n\nt2,bob,u2\n,nobody,u3\nt1,carol,u4,x\n");
  const AuthenticationResult answer = Await(file->AuthenticateToken(Token("t1")));
  EXPECT_EQ(Show(answer), "user: carol");  // the last line with the token takes precedence
  EXPECT_THAT((*answer)->user.groups, ElementsAre("x"));
  EXPECT_EQ(Show(Await(file->AuthenticateToken(Token("t2")))), "user: bob");
  EXPECT_EQ(Show(Await(file->AuthenticateToken(Token("")))), "not mine");
  EXPECT_FALSE(NewTokenFile("a,b\n", "f"));
  EXPECT_FALSE(NewTokenFile("a,\"b\n", "f"));
}

}  // namespace
}  // namespace apimesh::authn_authz
