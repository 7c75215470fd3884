#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/text/base64.h"
#include "lib/credentials/jwt.h"
#include "lib/credentials/openid.h"
#include "lib/credentials/option_rules.h"
#include "lib/credentials/service_account_token.h"
#include "lib/credentials/test_keys.h"

namespace apimesh::credentials {
namespace {

using test_keys::kEcPem;
using test_keys::kRsaPem;

WallTime At(std::int64_t seconds) { return WallTime(std::chrono::seconds(seconds)); }

boost::json::object Claims(std::string_view json) { return boost::json::parse(std::string(json)).as_object(); }

TEST(Base64Url, RoundTripsAndIsStrict) {
  for (const std::string text : {"", "a", "ab", "abc", "\xff\xfe\xfd?"}) {
    EXPECT_EQ(DecodeBase64Url(EncodeBase64Url(text)), text);
  }
  for (const std::string bad : {"a", "ab==", "a b", "YR", "+/+/"}) EXPECT_EQ(DecodeBase64Url(bad), std::nullopt) << bad;
}

class JwtKeys : public ::testing::TestWithParam<const char*> {};

TEST_P(JwtKeys, SignsWhatItVerifies) {
  const PrivateKey key = PrivateKey::FromPem(GetParam()).value();
  const std::string token = SignJwt(key, Claims(R"({"iss":"x","sub":"y"})"));
  const std::optional<Jwt> jwt = Jwt::Parse(token);
  ASSERT_TRUE(jwt);
  EXPECT_EQ(jwt->KeyId(), key.Public().KeyId());
  EXPECT_TRUE(jwt->Verify(key.Public()));
  EXPECT_TRUE(jwt->Verify(PublicKey::FromJwk(key.Public().ToJwk()).value()));
  std::string forged = token;
  forged[forged.find('.') + 3] ^= 1;
  const std::optional<Jwt> other = Jwt::Parse(forged);
  EXPECT_TRUE(!other || !other->Verify(key.Public()));
}
INSTANTIATE_TEST_SUITE_P(Table, JwtKeys, ::testing::Values(kRsaPem, kEcPem));

TEST(Jwt, KeysDoNotVerifyEachOthersTokens) {
  const PrivateKey rsa = PrivateKey::FromPem(kRsaPem).value(), ec = PrivateKey::FromPem(kEcPem).value();
  EXPECT_FALSE(Jwt::Parse(SignJwt(rsa, {}))->Verify(ec.Public()));
  EXPECT_FALSE(Jwt::Parse(SignJwt(ec, {}))->Verify(rsa.Public()));
}

TEST(Jwt, RefusesBadShapes) {
  const std::string claims = EncodeBase64Url(R"({"iss":"x"})");
  const auto with_header = [&](std::string_view header) { return EncodeBase64Url(header) + "." + claims + ".YWI"; };
  const std::string bad[] = {"",
                             ".",
                             "..",
                             "a.b",
                             "a.b.c.d",
                             with_header(R"({"alg":"none"})"),
                             with_header(R"({"alg":"HS256"})"),
                             with_header("{}"),
                             with_header(R"({"alg":"RS256","crit":["exp"]})"),
                             with_header(R"({"alg":"RS256","b64":false})"),
                             with_header("[]"),
                             EncodeBase64Url(R"({"alg":"none"})") + "." + claims + ".",
                             EncodeBase64Url(R"({"alg":"RS256"})") + "." + claims + ".",
                             EncodeBase64Url(R"({"alg":"RS256"})") + "." + std::string(kMaxTokenBytes, 'a') + ".YWI"};
  for (const std::string& token : bad) EXPECT_FALSE(Jwt::Parse(token)) << token.substr(0, 60);
  EXPECT_TRUE(Jwt::Parse(with_header(R"({"alg":"RS256","kid":"../../etc/passwd"})")));
}

TEST(Jwt, ChecksTimesWithAMinuteOfLeeway) {
  const PrivateKey key = PrivateKey::FromPem(kEcPem).value();
  const auto check = [&](std::string_view claims, std::int64_t now) {
    return CheckTimes(*Jwt::Parse(SignJwt(key, Claims(claims))), At(now));
  };
  EXPECT_EQ(check("{}", 1000), TimeCheck::kValid);
  EXPECT_EQ(check(R"({"exp":1000})", 1060), TimeCheck::kValid);
  EXPECT_EQ(check(R"({"exp":1000})", 1061), TimeCheck::kExpired);
  EXPECT_EQ(check(R"({"nbf":1000})", 940), TimeCheck::kValid);
  EXPECT_EQ(check(R"({"nbf":1000})", 939), TimeCheck::kNotYetValid);
  EXPECT_EQ(check(R"({"iat":1000})", 939), TimeCheck::kIssuedInTheFuture);
  EXPECT_EQ(check(R"({"exp":"soon"})", 1), TimeCheck::kMalformed);
  EXPECT_EQ(check(R"({"exp":1e300})", 1), TimeCheck::kMalformed);
}

TEST(Key, ReadsAllPemForms) {
  EXPECT_EQ(PublicKey::FromPem(std::string(kRsaPem) + kEcPem)->size(), 2u);
  EXPECT_EQ(PublicKey::FromPem(test_keys::kEcPublicPem)->front().KeyId(),
            PrivateKey::FromPem(kEcPem)->Public().KeyId());
  EXPECT_FALSE(PublicKey::FromPem("no key here"));
  EXPECT_FALSE(PrivateKey::FromPem(test_keys::kEcPublicPem));
}

TEST(ServiceAccountToken, HasTheReferencesClaims) {
  const BoundTokenClaims token{.issuer = "https://iss",
                               .ns = "default",
                               .service_account = {"sa", "u1"},
                               .pod = ObjectRef{"p", "u2"},
                               .secret = {},
                               .node = ObjectRef{"n", "u3"},
                               .audiences = {"api"},
                               .expiration_seconds = 600,
                               .warn_after_seconds = 0,
                               .id = "j"};
  EXPECT_EQ(
      boost::json::serialize(ToClaims(token, At(1000))),
      R"({"aud":["api"],"exp":1600,"iat":1000,"iss":"https://iss","jti":"j","kubernetes.io":{"namespace":"default",)"
      R"("node":{"name":"n","uid":"u3"},"pod":{"name":"p","uid":"u2"},"serviceaccount":{"name":"sa","uid":"u1"}},)"
      R"("nbf":1000,"sub":"system:serviceaccount:default:sa"})");
}

TEST(ServiceAccountToken, SplitsOnlyWellFormedNames) {
  EXPECT_TRUE(SplitServiceAccountUsername("system:serviceaccount:ns:a.b"));
  for (const char* bad : {"x", "system:serviceaccount:ns", "system:serviceaccount:ns:a:b", "system:serviceaccount::a",
                          "system:serviceaccount:a.b:c", "system:serviceaccount:ns:A"}) {
    EXPECT_FALSE(SplitServiceAccountUsername(bad)) << bad;
  }
}

TEST(OpenId, PublishesKeysAndRefusesOddIssuers) {
  const PublicKey key = PublicKey::FromPem(kEcPem).value()[0];
  const std::vector<PublishedKey> keys{{"name", key}};
  const OpenIdMetadata metadata = MakeOpenIdMetadata("https://iss", "", "10.0.0.1:6443", keys).value();
  EXPECT_EQ(metadata.configuration,
            R"({"issuer":"https://iss","jwks_uri":"https://10.0.0.1:6443/openid/v1/jwks","response_types_supported":)"
            R"(["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256"]})");
  EXPECT_THAT(metadata.key_set, ::testing::StartsWith(R"({"keys":[{"use":"sig","kty":"EC","kid":"name",)"));
  EXPECT_EQ(MakeOpenIdMetadata("http://iss", "", "a", keys).error().Message(),
            "Internal error occurred: issuer URL must use https scheme, got: http://iss");
}

TEST(AuthorizationFlagErrors, RefusesModesThatDoNotFitTheFiles) {
  EXPECT_TRUE(AuthorizationFlagErrors({{"Node", "RBAC"}, "", ""}).empty());
  EXPECT_TRUE(AuthorizationFlagErrors({{"ABAC", "Webhook"}, "policy", "kubeconfig"}).empty());
  EXPECT_EQ(AuthorizationFlagErrors({{}, "", ""}).size(), 1u);
  EXPECT_EQ(AuthorizationFlagErrors({{"ABAC", "Webhook", "Nope"}, "", ""}).size(), 3u);
  EXPECT_EQ(AuthorizationFlagErrors({{"RBAC", "RBAC"}, "policy", "kubeconfig"}).size(), 3u);
}

TEST(RequestHeaderErrors, RefusesBlankNames) {
  RequestHeaderFlags flags;
  flags.username_headers = {"X-Remote-User"};
  flags.uid_headers = {"x-remote-uid"};
  EXPECT_TRUE(RequestHeaderErrors(flags).empty());
  flags.allowed_names = {"front-proxy", " "};
  EXPECT_EQ(RequestHeaderErrors(flags), std::vector<std::string>{"empty value in \"requestheader-allowed-names\""});
  EXPECT_FALSE(CertificatesOverlap("", ""));
  EXPECT_FALSE(CertificatesOverlap("garbage", "garbage"));
}

}  // namespace
}  // namespace apimesh::credentials
