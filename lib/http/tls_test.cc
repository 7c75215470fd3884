#include <gmock/gmock.h>

#include "lib/http/test_client.h"
#include "lib/testing/manual_clock.h"

namespace apimesh::http {
namespace {

class HttpTls : public ClientFixture {};

TEST_F(HttpTls, AnswersAndVerifiesTheServer) {
  const auto server = Listen(Tls(), Describe);
  const auto answer = RunTask(NewClient(Trusting())->Do("GET", Https(*server) + "/", {}, "", In(10)));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_NE(answer->body.find("sni= certificates=0"), std::string::npos) << answer->body;
  const auto untrusted =
      RunTask(NewClient({.clock = testing::SystemClock()})->Do("GET", Https(*server) + "/", {}, "", In(10)));
  ASSERT_FALSE(untrusted);
  EXPECT_EQ(untrusted.error().code, ClientError::Code::kTls);
  const std::string start = "tls: failed to verify certificate: x509: ";
  EXPECT_EQ(untrusted.error().message, start + "certificate signed by unknown authority");
  const auto refused = [&](std::string name) {
    ClientOptions wrong_name = Trusting();
    wrong_name.tls.server_name = std::move(name);
    const auto response = RunTask(NewClient(wrong_name)->Do("GET", Https(*server) + "/", {}, "", In(10)));
    return response ? std::string() : response.error().message;
  };
  EXPECT_EQ(refused("other.example"), start + "certificate is valid for server.example, not other.example");
  EXPECT_EQ(refused("127.0.0.2"), start + "certificate is valid for 127.0.0.1, not 127.0.0.2");
}

// The caBundle of a webhook can be the server's own certificate, although another one has signed it.
TEST_F(HttpTls, TrustsTheCertificatesOfTheBundleThemselves) {
  const TestCertificate own = MakeCertificate({.common_name = "own", .ip = "127.0.0.1"}, &ca_);
  Write("server.crt", own.certificate_pem);
  Write("server.key", own.key_pem);
  const auto server = Listen(Tls(), Describe);
  const auto answer_to = [&](const std::string& bundle) {
    ClientOptions options{.clock = testing::SystemClock()};
    options.tls.ca_pem = bundle;
    return RunTask(NewClient(options)->Do("GET", Https(*server) + "/", {}, "", In(10)));
  };
  const auto answer = answer_to(own.certificate_pem);
  EXPECT_TRUE(answer) << answer.error().message;
  const TestCertificate other = MakeCertificate({.common_name = "own", .ip = "127.0.0.1"}, &ca_);
  EXPECT_FALSE(answer_to(other.certificate_pem)) << "another certificate of the same name";
}

TEST_F(HttpTls, SaysThatACertificateHasExpired) {
  const TestCertificate old = MakeCertificate({.common_name = "old", .ip = "127.0.0.1", .valid_until = -60}, &ca_);
  Write("server.crt", old.certificate_pem);
  Write("server.key", old.key_pem);
  const auto server = Listen(Tls(), Describe);
  const auto response = RunTask(NewClient(Trusting())->Do("GET", Https(*server) + "/", {}, "", In(10)));
  ASSERT_FALSE(response);
  EXPECT_THAT(response.error().message,
              ::testing::MatchesRegex("tls: failed to verify certificate: x509: certificate has expired or is not yet "
                                      "valid: current time [-0-9T:]+Z is after [-0-9T:]+Z"));
}

TEST_F(HttpTls, HandsOnClientCertificatesOfAnyIssuer) {
  const TestCertificate stranger = MakeCertificate({.common_name = "stranger"});
  Write("client.crt", stranger.certificate_pem);
  Write("client.key", stranger.key_pem);
  ClientOptions options = Trusting();
  options.tls.cert_file = File("client.crt");
  options.tls.key_file = File("client.key");
  const auto server = Listen(Tls(), Describe);
  const auto answer = RunTask(NewClient(options)->Do("GET", Https(*server) + "/", {}, "", In(10)));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_NE(answer->body.find("certificates=1"), std::string::npos) << answer->body;
}

TEST_F(HttpTls, TakesACertificateAsText) {
  const TestCertificate stranger = MakeCertificate({.common_name = "stranger"});
  const TestCertificate other = MakeCertificate({.common_name = "other"});
  ClientOptions options = Trusting();
  options.tls.cert_pem = stranger.certificate_pem;
  options.tls.key_pem = stranger.key_pem;
  const auto server = Listen(Tls(), Describe);
  const auto answer = RunTask(NewClient(options)->Do("GET", Https(*server) + "/", {}, "", In(10)));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_NE(answer->body.find("certificates=1"), std::string::npos) << answer->body;
  options.tls.key_pem = other.key_pem;
  const auto mismatched = RunTask(NewClient(options)->Do("GET", Https(*server) + "/", {}, "", In(10)));
  ASSERT_FALSE(mismatched);
  EXPECT_EQ(mismatched.error().code, ClientError::Code::kTls);
}

TEST_F(HttpTls, DemandsCertificatesOfItsCaWhereToldTo) {
  ServerOptions demanding = Tls();
  demanding.tls_options.client_certificate = net::ServerTlsOptions::ClientCertificate::kRequire;
  demanding.tls_options.client_ca_files = {File("ca.crt")};
  const auto server = Listen(demanding, Describe);
  EXPECT_FALSE(RunTask(NewClient(Trusting())->Do("GET", Https(*server) + "/", {}, "", In(10))));
  const TestCertificate stranger = MakeCertificate({.common_name = "stranger"});
  Write("client.crt", stranger.certificate_pem);
  Write("client.key", stranger.key_pem);
  ClientOptions options = Trusting();
  options.tls.cert_file = File("client.crt");
  options.tls.key_file = File("client.key");
  EXPECT_FALSE(RunTask(NewClient(options)->Do("GET", Https(*server) + "/", {}, "", In(10))));
  Issue("client", "mesh", "mesh");
  EXPECT_TRUE(RunTask(NewClient(options)->Do("GET", Https(*server) + "/", {}, "", In(10))));
}

TEST_F(HttpTls, ChoosesTheCertificateBySni) {
  Issue("other", "second", "other.example");
  ServerOptions options = Tls();
  options.tls_options.sni.push_back({File("other.crt"), File("other.key"), {}});
  const auto server = Listen(options, Describe);
  for (const char* name : {"server.example", "other.example"}) {
    ClientOptions named = Trusting();
    named.tls.server_name = name;
    const auto answer = RunTask(NewClient(named)->Do("GET", Https(*server) + "/", {}, "", In(10)));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_NE(answer->body.find(fmt::format("sni={}", name)), std::string::npos);
  }
}

TEST_F(HttpTls, ReadsCertificatesAgain) {
  testing::ManualClock clock;
  const auto server = Listen(Tls(clock), Describe);
  ClientOptions renamed = Trusting();
  renamed.tls.server_name = "renamed.example";
  EXPECT_FALSE(RunTask(NewClient(renamed)->Do("GET", Https(*server) + "/", {}, "", In(10))));
  Issue("server", "renamed", "renamed.example");
  EXPECT_FALSE(RunTask(NewClient(renamed)->Do("GET", Https(*server) + "/", {}, "", In(10))));
  clock.Advance(std::chrono::seconds(1));  // the files are checked once per second
  const auto answer = RunTask(NewClient(renamed)->Do("GET", Https(*server) + "/", {}, "", In(10)));
  EXPECT_TRUE(answer) << answer.error().message;
}

TEST_F(HttpTls, SendsLargeAnswersInPieces) {
  const auto server = Listen(Tls(), [](Request, ResponseWriter& writer) -> Task<> {
    std::vector<SharedBytes> pieces;
    for (int i = 0; i < 2000; ++i) pieces.emplace_back(std::string(1 + i % 5000, static_cast<char>('a' + i % 26)));
    co_await writer.Send(200, Headers(), std::move(pieces));
  });
  const auto answer = RunTask(NewClient(Trusting())->Do("GET", Https(*server) + "/", {}, "", In(30)));
  ASSERT_TRUE(answer) << answer.error().message;
  std::string want;
  for (int i = 0; i < 2000; ++i) want += std::string(1 + i % 5000, static_cast<char>('a' + i % 26));
  EXPECT_TRUE(answer->body == want);
}

TEST_F(HttpTls, RefusesUnknownCiphersAndVersions) {
  ServerOptions cipher = Tls(), version = Tls();
  cipher.tls_options.cipher_suites = {"TLS_NONE"};
  EXPECT_THROW(Listen(cipher, Describe), std::runtime_error);
  version.tls_options.min_version = "VersionTLS99";
  EXPECT_THROW(Listen(version, Describe), std::runtime_error);
}

}  // namespace
}  // namespace apimesh::http
