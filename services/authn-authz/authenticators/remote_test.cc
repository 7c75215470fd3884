// Tests OIDC and webhooks with fakes instead of the network.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/credentials/test_keys.h"
#include "lib/meta/object.h"
#include "lib/service/webhook/kubeconfig.h"
#include "lib/testing/temp_path.h"
#include "services/authn-authz/authenticators/oidc/flags.h"
#include "services/authn-authz/authenticators/oidc/oidc.h"
#include "services/authn-authz/authenticators/requestheader/flags.h"
#include "services/authn-authz/authenticators/serviceaccount/flags.h"
#include "services/authn-authz/authenticators/webhook/webhook.h"
#include "services/authn-authz/authorizers/webhook/flags.h"
#include "services/authn-authz/authorizers/webhook/webhook.h"
#include "services/authn-authz/config/authentication_config.h"
#include "services/authn-authz/config/authorization_config.h"
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

class FakeReview final : public service::ReviewClient {
 public:
  explicit FakeReview(meta::Result<boost::json::object> answer) : answer_(std::move(answer)) {}
  Task<meta::Result<boost::json::object>> Review(std::string body, SteadyTime) override {
    sent.push_back(std::move(body));
    co_return answer_;
  }
  std::vector<std::string> sent;

 private:
  meta::Result<boost::json::object> answer_;
};

TEST(TokenWebhook, ReadsTheReview) {
  const fake::ManualClock clock;
  const auto ask = [&clock](std::string_view answer, std::vector<std::string> audiences) {
    auto client = std::make_unique<FakeReview>(Json(answer));
    return Await(
        NewTokenWebhook(std::move(client), "v1", {"api"}, clock)->AuthenticateToken(Token("t", std::move(audiences))));
  };
  const AuthenticationResult good =
      ask(R"({"status":{"authenticated":true,"user":{"username":"u","groups":["g"],"extra":{"k":["v"]}}}})", {"api"});
  ASSERT_EQ(Show(good), "user: u");
  EXPECT_THAT((*good)->audiences, ElementsAre("api"));
  EXPECT_EQ(Show(ask(R"({"status":{"authenticated":true,"audiences":["x"]}})", {"api"})), "not mine");
  EXPECT_EQ(Show(ask(R"({"status":{"authenticated":false,"error":"no"}})", {})), "bad: no");
  EXPECT_EQ(Show(ask(R"({"status":{}})", {})), "not mine");
  auto broken = std::make_unique<FakeReview>(meta::InternalError("away"));
  EXPECT_THAT(Show(Await(NewTokenWebhook(std::move(broken), "v1", {}, clock)->AuthenticateToken(Token("t")))),
              HasSubstr("away"));
}

TEST(AuthorizationWebhook, LimitsItsCacheByBytes) {
  struct Case {
    const char* status;
    std::size_t cache_bytes;
  };
  for (const Case& c : {Case{R"("allowed":true)", 4 << 20}, Case{R"("allowed":false)", 1 << 20}}) {
    fake::ManualClock clock;
    const std::size_t reason = c.cache_bytes / 100;
    auto client = std::make_unique<FakeReview>(
        Json(fmt::format(R"({{"status":{{{},"reason":"{}"}}}})", c.status, std::string(reason, 'r'))));
    const auto webhook =
        NewAuthorizationWebhook(std::move(client), {.version = "v1", .match_conditions = {}}, "hook", clock, nullptr);
    const auto question = [](std::size_t i, std::size_t more) {
      auto attributes = std::make_shared<Attributes>();
      attributes->user.name = fmt::format("u{}", i);
      attributes->path = "/" + std::string(more, 'p');
      return attributes;
    };
    for (std::size_t i = 0; i < 300; ++i) Await(webhook->Decide(question(i, 0)));
    std::size_t known = 0;
    for (std::size_t i = 0; i < 300; ++i) known += webhook->DecideNow(*question(i, 0)).has_value();
    EXPECT_LT(known, 100u) << c.status << ": each answer has more bytes than its reason";
    EXPECT_GT(known, 80u) << c.status;
    EXPECT_TRUE(webhook->DecideNow(*question(299, 0))) << c.status << ": the oldest answers are dropped first";
    Await(webhook->Decide(question(0, 10'000)));
    EXPECT_FALSE(webhook->DecideNow(*question(0, 10'000))) << c.status << ": answers to long questions are not kept";
  }
}

TEST(AuthorizationWebhook, KeepsAnswersAndFailsAsTold) {
  fake::ManualClock clock;
  auto attributes = std::make_shared<Attributes>();
  attributes->user.name = "u";
  attributes->user.groups = {"g"};
  attributes->is_resource_request = true;
  attributes->verb = "list";
  attributes->resource = "pods";
  auto client = std::make_unique<FakeReview>(Json(R"({"status":{"allowed":true,"reason":"r"}})"));
  FakeReview& fake_client = *client;
  const auto webhook =
      NewAuthorizationWebhook(std::move(client), {.version = "v1", .match_conditions = {}}, "hook", clock, nullptr);
  EXPECT_FALSE(webhook->DecideNow(*attributes));
  EXPECT_EQ(Await(webhook->Decide(attributes)).verdict, Decision::Verdict::kAllow);
  EXPECT_EQ(
      fake_client.sent.at(0),
      R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{"resourceAttributes":)"
      R"({"verb":"list","resource":"pods"},"user":"u","groups":["g"]}})");
  ASSERT_TRUE(webhook->DecideNow(*attributes));
  clock.Advance(std::chrono::minutes(6));
  EXPECT_FALSE(webhook->DecideNow(*attributes));
  for (const bool deny : {true, false}) {
    auto broken = std::make_unique<FakeReview>(meta::InternalError("away"));
    const Decision decision =
        Await(NewAuthorizationWebhook(std::move(broken), {.deny_on_error = deny, .match_conditions = {}}, "hook", clock,
                                      nullptr)
                  ->Decide(attributes));
    EXPECT_EQ(decision.verdict, deny ? Decision::Verdict::kDeny : Decision::Verdict::kNoOpinion);
    EXPECT_THAT(decision.error, HasSubstr("away"));
  }
}

TEST(Config, ReadsKubeconfigs) {
  const auto endpoint = service::ParseKubeconfig(
      "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
      "clusters: [{name: k, cluster: {server: 'https://hook:8443/review', certificate-authority: ca.crt}}]\n"
      "users: [{name: u, user: {token: secret}}]\n",
      "/etc/x");
  ASSERT_TRUE(endpoint) << endpoint.error().Message();
  EXPECT_EQ(endpoint->url, "https://hook:8443/review");
  EXPECT_EQ(endpoint->tls.ca_file, "/etc/x/ca.crt");
  EXPECT_EQ(endpoint->authorization, "Bearer secret");
  const auto inline_pair = service::ParseKubeconfig(
      "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: "
      "{server: 'https://hook'}}]\n"
      "users: [{name: u, user: {client-certificate-data: Y2VydA==, client-key-data: a2V5, client-certificate: "
      "ignored}}]",
      "/folder");
  ASSERT_TRUE(inline_pair) << inline_pair.error().Message();
  EXPECT_EQ(inline_pair->tls.cert_pem, "cert");
  EXPECT_EQ(inline_pair->tls.key_pem, "key");
  EXPECT_EQ(inline_pair->tls.cert_file, "");
  EXPECT_FALSE(service::ParseKubeconfig("a: [", ""));
  EXPECT_FALSE(service::ParseKubeconfig("kind: Config", ""));
}

TEST(Config, ReadsAuthenticationFiles) {
  const std::string head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";
  const auto config = ParseAuthenticationConfig(head +
                                                    "anonymous: {enabled: true, conditions: [{path: /livez}]}\n"
                                                    "jwt:\n- issuer: {url: 'https://a', audiences: [x]}\n  "
                                                    "claimMappings: {username: {claim: sub, prefix: 'p:'}}\n",
                                                {});
  ASSERT_TRUE(config) << config.error().Message();
  EXPECT_EQ(config->issuers.at(0).username_prefix, "p:");
  EXPECT_THAT(config->anonymous_paths, ElementsAre("/livez"));
  for (const char* bad :
       {"jwt:\n- issuer: {url: 'http://a', audiences: [x]}\n", "jwt:\n- issuer: {url: 'https://a'}\n",
        "jwt:\n- issuer: {url: 'https://a', audiences: [x]}\n  claimMappings: {username: {expression: x}}\n"}) {
    EXPECT_FALSE(ParseAuthenticationConfig(head + bad, {})) << bad;
  }
}

TEST(Config, ReadsAuthorizationFiles) {
  const std::string head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n";
  const std::string file = testing::TempPath("webhook-kubeconfig");
  std::ofstream(file) << "kind: Config\n";  // the file must exist
  const auto config =
      ParseAuthorizationConfig(head +
                               "- type: Webhook\n  name: w\n  webhook:\n    timeout: 3s\n    unauthorizedTTL: 10s\n    "
                               "subjectAccessReviewVersion: v1\n"
                               "    failurePolicy: Deny\n    connectionInfo: {type: KubeConfigFile, kubeConfigFile: " +
                               file + "}\n- type: RBAC\n  name: rbac\n");
  ASSERT_TRUE(config) << config.error().Message();
  EXPECT_EQ(config->at(0).webhook.timeout, std::chrono::seconds(3));
  EXPECT_TRUE(config->at(0).webhook.deny_on_error);
  EXPECT_EQ(config->at(1).type, "RBAC");
  EXPECT_FALSE(ParseAuthorizationConfig(head + "[]"));
}

TEST(Config, ReadsTheCommandLine) {
  const char* arguments[] = {"authn-authz",
                             "--listen=unix:/a",
                             "--core-api=unix:/b",
                             "--anonymous-auth=false",
                             "--service-account-key-file=k1",
                             "--service-account-key-file=k2",
                             "--authorization-mode=Node,RBAC",
                             "--service-account-issuer=https://a",
                             "--authorization-webhook-cache-authorized-ttl=1m0s",
                             "--oidc-required-claim=a=b",
                             "--requestheader-group-headers=X-Group,X-Team"};
  Options options;
  EXPECT_EQ(ParseCommandLine(std::size(arguments), const_cast<char**>(arguments), options), std::nullopt);
  EXPECT_FALSE(options.authentication.anonymous_auth);
  EXPECT_THAT(options.authentication.extensions.Get<ServiceAccountFlags>().key_files, ElementsAre("k1", "k2"));
  EXPECT_THAT(options.authorization.modes, ElementsAre("Node", "RBAC"));
  EXPECT_EQ(options.authorization.extensions.Get<AuthorizationWebhookFlags>().authorized_ttl, std::chrono::minutes(1));
  EXPECT_THAT(options.authentication.extensions.Get<RequestHeaderFlags>().group_headers,
              ElementsAre("X-Group", "X-Team"));
  EXPECT_THAT(options.authentication.extensions.Get<OidcFlags>().required_claims, ElementsAre("a=b"));
}

}  // namespace
}  // namespace apimesh::authn_authz
