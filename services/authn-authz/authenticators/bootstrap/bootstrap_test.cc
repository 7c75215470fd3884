#include "services/authn-authz/authenticators/bootstrap/bootstrap.h"

#include <gtest/gtest.h>

#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::Show;
using fake::Token;

struct BootstrapCase {
  const char* name;
  std::string token;
  std::map<std::string, std::string> change;  // "" removes a key
  const char* want;
};
const BootstrapCase kBootstrapCases[] = {
    {"Good", "abcdef.0123456789abcdef", {}, "user: system:bootstrap:abcdef"},
    {"WrongSecret", "abcdef.0123456789abcdee", {}, "not mine"},
    {"UnknownId", "abcdeg.0123456789abcdef", {}, "not mine"},
    {"BadShape", "ABCDEF.0123456789abcdef", {}, "not mine"},
    {"Expired", "abcdef.0123456789abcdef", {{"expiration", "2001-01-01T00:00:00Z"}}, "not mine"},
    {"BadExpiry", "abcdef.0123456789abcdef", {{"expiration", "tomorrow"}}, "not mine"},
    {"Valid", "abcdef.0123456789abcdef", {{"expiration", "2099-01-01T00:00:00Z"}}, "user: system:bootstrap:abcdef"},
    {"NotForAuthentication", "abcdef.0123456789abcdef", {{"usage-bootstrap-authentication", "false"}}, "not mine"},
    {"BadGroup", "abcdef.0123456789abcdef", {{"auth-extra-groups", "system:masters"}}, "not mine"},
    {"WrongIdInside", "abcdef.0123456789abcdef", {{"token-id", "zzzzzz"}}, "not mine"},
};
class BootstrapTokens : public ::testing::TestWithParam<BootstrapCase> {};
TEST_P(BootstrapTokens, AreChecked) {
  fake::ManualClock clock;
  auto objects = std::make_shared<fake::FakeTokenObjects>();
  TokenObject secret{
      .uid = "u",
      .deleted_at = {},
      .type = "bootstrap.kubernetes.io/token",
      .data = {
          {"token-id", "abcdef"}, {"token-secret", "0123456789abcdef"}, {"usage-bootstrap-authentication", "true"}}};
  for (const auto& [key, value] : GetParam().change) secret.data[key] = value;
  objects->Put(TokenObjectKind::kSecret, "kube-system", "bootstrap-token-abcdef", secret);
  EXPECT_EQ(Show(Await(NewBootstrapToken(objects, clock)->AuthenticateToken(Token(GetParam().token)))),
            GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, BootstrapTokens, ::testing::ValuesIn(kBootstrapCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace apimesh::authn_authz
