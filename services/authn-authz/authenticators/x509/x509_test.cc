#include "services/authn-authz/authenticators/x509/x509.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/http/test_certificates.h"
#include "lib/testing/system_clock.h"
#include "services/authn-authz/authenticators/requestheader/requestheader.h"
#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using http::MakeCertificate;
using http::TestCertificate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

CredentialsPtr Shown(std::vector<std::string> chain, std::vector<std::pair<std::string, std::string>> headers = {}) {
  auto credentials = std::make_shared<Credentials>();
  credentials->peer_certificates = std::move(chain);
  credentials->headers = std::move(headers);
  return credentials;
}

class X509Test : public ::testing::Test {
 protected:
  AuthenticationResult Ask(std::vector<std::string> chain, bool reads_uids = true) {
    std::shared_ptr<CertificateVerifier> verifier =
        CertificateVerifier::FromPem(ca_.certificate_pem, apimesh::testing::SystemClock()).value();
    return fake::Await(NewX509(std::move(verifier), reads_uids)->Authenticate(Shown(std::move(chain))));
  }
  const TestCertificate ca_ = MakeCertificate({.common_name = "ca", .is_ca = true});
};

TEST_F(X509Test, ReadsUserGroupsAndUid) {
  const TestCertificate leaf = MakeCertificate(
      {.common_name = "alice", .organizations = {"system:masters", "b"}, .uids = {"u-1"}, .usage = "clientAuth"}, &ca_);
  const AuthenticationResult answer = Ask({leaf.certificate_der});
  ASSERT_EQ(fake::Show(answer), "user: alice");
  EXPECT_THAT((*answer)->user.groups, ElementsAre("system:masters", "b"));
  EXPECT_EQ((*answer)->user.uid, "u-1");
  EXPECT_THAT((*answer)->user.extra.at("authentication.kubernetes.io/credential-id").front(),
              ::testing::MatchesRegex("X509SHA256=[0-9a-f]+"));
  EXPECT_LT((*answer)->expires, WallTime::max());
}

TEST_F(X509Test, IgnoresUidsWithoutTheFeature) {
  const TestCertificate leaf = MakeCertificate({.common_name = "alice", .uids = {"1", "2"}}, &ca_);
  const AuthenticationResult answer = Ask({leaf.certificate_der}, false);
  ASSERT_EQ(fake::Show(answer), "user: alice");
  EXPECT_EQ((*answer)->user.uid, "");
}

TEST_F(X509Test, FollowsIntermediates) {
  const TestCertificate middle = MakeCertificate({.common_name = "middle", .is_ca = true}, &ca_);
  const TestCertificate leaf = MakeCertificate({.common_name = "bob"}, &middle);
  EXPECT_EQ(fake::Show(Ask({leaf.certificate_der, middle.certificate_der})), "user: bob");
  EXPECT_THAT(fake::Show(Ask({leaf.certificate_der})), HasSubstr("signed by unknown authority"));
}

TEST_F(X509Test, RefusesWhatDoesNotVerify) {
  const TestCertificate other = MakeCertificate({.common_name = "other", .is_ca = true});
  const auto show = [&](const http::TestCertificateRequest& request, const TestCertificate* issuer) {
    return fake::Show(Ask({MakeCertificate(request, issuer).certificate_der}));
  };
  EXPECT_THAT(show({.common_name = "a"}, &other), HasSubstr("signed by unknown authority"));
  EXPECT_THAT(show({.common_name = "a"}, nullptr), HasSubstr("signed by unknown authority"));
  EXPECT_THAT(show({.common_name = "a", .valid_until = -10}, &ca_), HasSubstr("expired or is not yet valid"));
  EXPECT_THAT(show({.common_name = "a", .valid_from = 100}, &ca_), HasSubstr("expired or is not yet valid"));
  EXPECT_THAT(show({.common_name = "a", .usage = "serverAuth"}, &ca_), HasSubstr("incompatible key usage"));
  EXPECT_EQ(show({.common_name = "a", .usage = "anyExtendedKeyUsage"}, &ca_), "user: a");
  EXPECT_EQ(show({.common_name = "", .organizations = {"o"}}, &ca_), "not mine");
  EXPECT_THAT(show({.common_name = "a", .uids = {"1", "2"}}, &ca_), HasSubstr("expected 1 UID"));
  const TestCertificate no_ca = MakeCertificate({.common_name = "no-ca"}, &ca_);
  EXPECT_THAT(fake::Show(Ask({MakeCertificate({.common_name = "a"}, &no_ca).certificate_der, no_ca.certificate_der})),
              ::testing::StartsWith("bad: "));
  EXPECT_THAT(fake::Show(Ask({"not a certificate"})), HasSubstr("malformed certificate"));
  EXPECT_EQ(fake::Show(Ask({})), "not mine");
}

class RequestHeaderTest : public X509Test {
 protected:
  AuthenticationResult AskProxy(std::vector<std::string> chain,
                                std::vector<std::pair<std::string, std::string>> headers,
                                std::vector<std::string> allowed = {}) {
    std::shared_ptr<CertificateVerifier> verifier =
        CertificateVerifier::FromPem(ca_.certificate_pem, apimesh::testing::SystemClock()).value();
    RequestHeaderOptions options{
        {"X-Remote-User"}, {"X-Remote-Uid"}, {"X-Remote-Group"}, {"X-Remote-Extra-"}, std::move(allowed)};
    return fake::Await(NewRequestHeader(verifier, options)->Authenticate(Shown(std::move(chain), std::move(headers))));
  }
};

TEST_F(RequestHeaderTest, BelievesTheFrontProxyOnly) {
  const TestCertificate proxy = MakeCertificate({.common_name = "front-proxy"}, &ca_);
  const std::vector<std::pair<std::string, std::string>> headers{{"x-remote-user", "carol"},
                                                                 {"x-remote-group", "g1"},
                                                                 {"x-remote-group", "g2"},
                                                                 {"x-remote-uid", "7"},
                                                                 {"x-remote-extra-acme.com%2fproject", "p"}};
  const AuthenticationResult answer = AskProxy({proxy.certificate_der}, headers);
  ASSERT_EQ(fake::Show(answer), "user: carol");
  EXPECT_EQ((*answer)->user.uid, "7");
  EXPECT_THAT((*answer)->user.groups, ElementsAre("g1", "g2"));
  EXPECT_THAT((*answer)->user.extra.at("acme.com/project"), ElementsAre("p"));
  EXPECT_EQ(fake::Show(AskProxy({}, headers)), "not mine");
  EXPECT_EQ(fake::Show(AskProxy({proxy.certificate_der}, {})), "not mine");
  EXPECT_EQ(fake::Show(AskProxy({proxy.certificate_der}, headers, {"someone"})),
            "bad: x509: subject with cn=front-proxy is not in the allowed list");
  const TestCertificate other = MakeCertificate({.common_name = "front-proxy"});
  EXPECT_THAT(fake::Show(AskProxy({other.certificate_der}, headers)), ::testing::StartsWith("bad: "));
}

}  // namespace
}  // namespace apimesh::authn_authz
