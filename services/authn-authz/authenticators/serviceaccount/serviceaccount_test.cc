#include "services/authn-authz/authenticators/serviceaccount/serviceaccount.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/text/base64.h"
#include "lib/credentials/jwt.h"
#include "lib/credentials/service_account_token.h"
#include "lib/credentials/test_keys.h"
#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::Show;
using fake::Token;
constexpr std::string_view kUser = "user: system:serviceaccount:default:sa";

class ServiceAccounts : public ::testing::Test {
 protected:
  ServiceAccounts() {
    objects_->Put(TokenObjectKind::kServiceAccount, "default", "sa", {.uid = "sa-uid"});
    objects_->Put(TokenObjectKind::kPod, "default", "pod", {.uid = "pod-uid"});
    objects_->Put(TokenObjectKind::kNode, "", "node", {.uid = "node-uid"});
  }
  credentials::BoundTokenClaims Claims() const {
    return {.issuer = "https://iss",
            .ns = "default",
            .service_account = {"sa", "sa-uid"},
            .pod = {},
            .secret = {},
            .node = {},
            .audiences = {"api"},
            .expiration_seconds = 600,
            .warn_after_seconds = 0,
            .id = "id-1"};
  }
  std::string Sign(const credentials::BoundTokenClaims& claims) {
    return credentials::SignJwt(key_, credentials::ToClaims(claims, clock_.Now()));
  }
  AuthenticationResult Ask(std::string token, std::vector<std::string> audiences = {"api"}) {
    const ServiceAccountOptions options{StaticKeys({key_.Public()}), {"https://iss"}, {"api"}, true};
    return Await(NewBoundServiceAccount(options, objects_, clock_)
                     ->AuthenticateToken(Token(std::move(token), std::move(audiences))));
  }
  AuthenticationResult AskLegacy(std::string token) {
    const ServiceAccountOptions options{StaticKeys({key_.Public()}), {"https://iss"}, {"api"}, true};
    return Await(NewLegacyServiceAccount(options, objects_)->AuthenticateToken(Token(std::move(token), {"api"})));
  }

  fake::ManualClock clock_;
  credentials::PrivateKey key_ = credentials::PrivateKey::FromPem(credentials::test_keys::kRsaPem).value();
  std::shared_ptr<fake::FakeTokenObjects> objects_ = std::make_shared<fake::FakeTokenObjects>();
};

TEST_F(ServiceAccounts, TakesAGoodTokenWithAllItSays) {
  auto claims = Claims();
  claims.pod = credentials::ObjectRef{"pod", "pod-uid"};
  // The node of a token that is bound to a pod is reported but not checked.
  claims.node = credentials::ObjectRef{"elsewhere", "x"};
  const AuthenticationResult answer = Ask(Sign(claims));
  ASSERT_EQ(Show(answer), kUser);
  const meta::UserInfo& user = (*answer)->user;
  EXPECT_EQ(user.uid, "sa-uid");
  EXPECT_THAT(user.groups, ::testing::ElementsAre("system:serviceaccounts", "system:serviceaccounts:default"));
  EXPECT_EQ(user.extra.at("authentication.kubernetes.io/credential-id").front(), "JTI=id-1");
  EXPECT_EQ(user.extra.at("authentication.kubernetes.io/pod-name").front(), "pod");
  EXPECT_EQ(user.extra.at("authentication.kubernetes.io/node-name").front(), "elsewhere");
  EXPECT_THAT((*answer)->audiences, ::testing::ElementsAre("api"));
  EXPECT_THAT(objects_->used, ::testing::ElementsAre("sa-uid", "pod-uid"));
}

TEST_F(ServiceAccounts, RefusesWhatIsWrong) {
  const std::string good = Sign(Claims());
  EXPECT_EQ(Show(Ask(good, {"other"})),
            "bad: token audiences [\"api\"] is invalid for the target audiences [\"other\"]");
  auto claims = Claims();
  claims.issuer = "https://other";
  EXPECT_EQ(Show(Ask(Sign(claims))), "not mine");
  claims = Claims();
  claims.service_account.uid = "old";
  EXPECT_EQ(Show(Ask(Sign(claims))), "bad: service account UID (sa-uid) does not match claim (old)");
  claims = Claims();
  claims.pod = credentials::ObjectRef{"gone", "x"};
  EXPECT_EQ(Show(Ask(Sign(claims))), "bad: service account token has been invalidated");
  claims.pod = credentials::ObjectRef{"pod", "old"};
  EXPECT_EQ(Show(Ask(Sign(claims))), "bad: pod UID (pod-uid) does not match service account pod ref claim (old)");
  claims = Claims();
  claims.node = credentials::ObjectRef{"node", "old"};
  EXPECT_EQ(Show(Ask(Sign(claims))), "bad: node UID (node-uid) does not match service account node ref claim (old)");
  const std::string foreign =
      credentials::SignJwt(credentials::PrivateKey::FromPem(credentials::test_keys::kEcPem).value(),
                           credentials::ToClaims(Claims(), clock_.Now()));
  EXPECT_EQ(Show(Ask(foreign)), "bad: invalid signature, no keys found");
  EXPECT_THAT(Show(Ask(good.substr(0, good.size() - 6) + "AAAAAA")), ::testing::StartsWith("bad: "));
  clock_.Advance(std::chrono::seconds(661));
  EXPECT_EQ(Show(Ask(good)), "bad: service account token has expired");
  clock_.Advance(-std::chrono::hours(1));
  EXPECT_EQ(Show(Ask(good)), "bad: service account token is not valid yet");
}

TEST_F(ServiceAccounts, RefusesForgedAlgorithms) {
  const std::string claims = EncodeBase64Url(boost::json::serialize(credentials::ToClaims(Claims(), clock_.Now())));
  const std::string kid = key_.Public().KeyId();
  for (const std::string header :
       {R"({"alg":"none"})", R"({"alg":"HS256","kid":")", R"({"alg":"HS256","kid":"../../dev/null"})"}) {
    const std::string whole = header.ends_with("\"kid\":\"") ? header + kid + "\"}" : header;
    const std::string token = EncodeBase64Url(whole) + "." + claims + ".";
    EXPECT_EQ(Show(Ask(token)), "not mine");
    EXPECT_EQ(Show(Ask(token + "AAAA")), "not mine");
  }
}

TEST_F(ServiceAccounts, DeletedAccountsKeepTheirTokensForAMinuteAtMost) {
  const std::string token = Sign(Claims());
  objects_->Put(TokenObjectKind::kServiceAccount, "default", "sa", {.uid = "sa-uid", .deleted_at = clock_.Now()});
  EXPECT_EQ(Show(Ask(token)), kUser);
  clock_.Advance(std::chrono::seconds(61));
  EXPECT_EQ(Show(Ask(token)), "bad: service account default/sa has been deleted");
}

TEST_F(ServiceAccounts, LegacyTokensMatchTheirSecret) {
  const std::string token =
      credentials::SignJwt(key_, credentials::LegacyClaims("default", {"sa", "sa-uid"}, "sa-token"));
  EXPECT_EQ(Show(AskLegacy(token)), "bad: Token has been invalidated");
  TokenObject secret{
      .uid = "s", .deleted_at = {}, .type = "kubernetes.io/service-account-token", .data = {{"token", token}}};
  objects_->Put(TokenObjectKind::kSecret, "default", "sa-token", secret);
  EXPECT_EQ(Show(AskLegacy(token)), kUser);
  EXPECT_THAT(objects_->legacy_tokens, ::testing::ElementsAre("default/sa-token"));
  EXPECT_EQ(Show(Ask(token)), "not mine");
  secret.marked_invalid = true;
  objects_->Put(TokenObjectKind::kSecret, "default", "sa-token", secret);
  EXPECT_THAT(Show(AskLegacy(token)), ::testing::HasSubstr("has been marked invalid"));
  EXPECT_EQ(objects_->legacy_tokens.size(), 2u);
  secret.data["token"] = "another";
  objects_->Put(TokenObjectKind::kSecret, "default", "sa-token", secret);
  EXPECT_EQ(Show(AskLegacy(token)), "bad: Token does not match server's copy");
  EXPECT_EQ(objects_->legacy_tokens.size(), 2u);
}

TEST_F(ServiceAccounts, ErrorsNeverShowTheToken) {
  auto claims = Claims();
  claims.service_account.uid = "old";
  const std::string token = Sign(claims);
  EXPECT_THAT(Show(Ask(token)), ::testing::Not(::testing::HasSubstr(token.substr(token.rfind('.') + 1, 16))));
}

}  // namespace
}  // namespace apimesh::authn_authz
