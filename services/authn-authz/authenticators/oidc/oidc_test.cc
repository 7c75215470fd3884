#include "services/authn-authz/authenticators/oidc/oidc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/credentials/test_keys.h"
#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::Show;
using fake::Token;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

boost::json::object Json(std::string_view text) { return boost::json::parse(std::string(text)).as_object(); }

/// A fake web server of an issuer.
class FakeHttp final : public http::Client {
 public:
  explicit FakeHttp(std::shared_ptr<std::map<std::string, std::string>> pages) : pages_(std::move(pages)) {}
  Task<http::ClientResult<http::ClientResponse>> Do(std::string, std::string url, http::Headers, std::string,
                                                    SteadyTime) override {
    const auto it = pages_->find(url);
    if (it == pages_->end()) co_return http::ClientResponse{404, {}, ""};
    co_return http::ClientResponse{200, {}, it->second};
  }
  Task<http::ClientResult<http::ClientResponse>> Stream(std::string, std::string, http::Headers, std::string,
                                                        std::function<Task<bool>(int, http::Headers)>, PieceFn,
                                                        SteadyTime) override {
    co_return http::ClientError{};
  }
  Task<http::ClientResult<Upgraded>> Upgrade(std::string, std::string, http::Headers, SteadyTime) override {
    co_return http::ClientError{};
  }

 private:
  std::shared_ptr<std::map<std::string, std::string>> pages_;
};

class OidcTest : public ::testing::Test {
 protected:
  OidcTest() {
    options_.issuer_url = "https://iss";
    options_.audiences = {"kube"};
    options_.username_prefix = "oidc:";
    options_.groups_claim = "groups";
    options_.groups_prefix = "oidc:";
    options_.required_claims = {{"tenant", "t1"}};
    Publish(rsa_);
    (*pages_)["https://iss/.well-known/openid-configuration"] =
        R"({"issuer":"https://iss","jwks_uri":"https://iss/keys"})";
  }
  void Publish(const credentials::PrivateKey& key) {
    boost::json::object set;
    set["keys"] = boost::json::array{key.Public().ToJwk()};
    (*pages_)["https://iss/keys"] = boost::json::serialize(set);
  }
  void Build() {
    auto keys = std::make_shared<KeySet>("https://iss", "https://iss/.well-known/openid-configuration",
                                         std::make_unique<FakeHttp>(pages_), clock_);
    oidc_ = NewOidc(options_, std::move(keys), clock_);
  }
  boost::json::object Claims() const {
    boost::json::object claims =
        Json(R"({"iss":"https://iss","aud":"kube","sub":"joe","tenant":"t1","groups":["a","b"],"jti":"j"})");
    claims["exp"] = std::chrono::duration_cast<std::chrono::seconds>(clock_.Now().time_since_epoch()).count() + 60;
    return claims;
  }
  AuthenticationResult Ask(const credentials::PrivateKey& key, const boost::json::object& claims) {
    if (!oidc_) Build();
    return Await(oidc_->AuthenticateToken(Token(credentials::SignJwt(key, claims))));
  }
  std::string With(const char* claim, boost::json::value value) {
    auto claims = Claims();
    claims[claim] = std::move(value);
    return Show(Ask(rsa_, claims));
  }

  fake::ManualClock clock_;
  OidcOptions options_;
  std::shared_ptr<std::map<std::string, std::string>> pages_ = std::make_shared<std::map<std::string, std::string>>();
  credentials::PrivateKey rsa_ = credentials::PrivateKey::FromPem(credentials::test_keys::kRsaPem).value();
  credentials::PrivateKey ec_ = credentials::PrivateKey::FromPem(credentials::test_keys::kEcPem).value();
  std::unique_ptr<TokenAuthenticator> oidc_;
};

TEST_F(OidcTest, MapsClaims) {
  const AuthenticationResult answer = Ask(rsa_, Claims());
  ASSERT_EQ(Show(answer), "user: oidc:joe");
  EXPECT_THAT((*answer)->user.groups, ElementsAre("oidc:a", "oidc:b"));
  EXPECT_THAT((*answer)->user.extra.at("authentication.kubernetes.io/credential-id"), ElementsAre("JTI=j"));
}

TEST_F(OidcTest, RefusesWhatIsWrong) {
  EXPECT_EQ(With("iss", "https://other"), "not mine");
  EXPECT_THAT(With("aud", "someone"), HasSubstr("expected audience in [\"kube\"] got [\"someone\"]"));
  EXPECT_THAT(With("exp", 1), HasSubstr("token is expired"));
  EXPECT_THAT(With("exp", nullptr), HasSubstr("token is expired"));
  EXPECT_THAT(With("nbf", 9'000'000'000), HasSubstr("before the nbf"));
  EXPECT_THAT(With("tenant", "t2"), HasSubstr("required claim tenant"));
  EXPECT_THAT(With("sub", 7), HasSubstr("parse username claims"));
  EXPECT_THAT(With("groups", 7), HasSubstr("parse groups claim"));
  EXPECT_THAT(Show(Ask(ec_, Claims())), HasSubstr("unsupported algorithm ES256"));
}

TEST_F(OidcTest, NoticesRotation) {
  options_.algorithms.push_back(credentials::Algorithm::kEs256);
  ASSERT_EQ(Show(Ask(rsa_, Claims())), "user: oidc:joe");
  EXPECT_THAT(Show(Ask(ec_, Claims())), HasSubstr("failed to verify signature"));
  Publish(ec_);
  EXPECT_THAT(Show(Ask(ec_, Claims())), HasSubstr("failed to verify signature"));  // keys were fetched just before
  clock_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(Show(Ask(ec_, Claims())), "user: oidc:joe");
}

TEST_F(OidcTest, SaysSoWhileTheIssuerIsAway) {
  pages_->erase("https://iss/keys");
  EXPECT_EQ(Show(Ask(rsa_, Claims())), "bad: oidc: authenticator not initialized");
}

}  // namespace
}  // namespace apimesh::authn_authz
