#include "lib/http/client.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/test_memory.h"
#include "lib/http/test_certificates.h"
#include "lib/testing/manual_clock.h"
#include "lib/testing/system_clock.h"

namespace apimesh::http {
namespace {

namespace asio = boost::asio;

template <class T>
T RunTask(Task<T> task) {
  asio::io_context io;
  std::optional<T> result;
  asio::co_spawn(io, std::move(task), [&result](std::exception_ptr error, T value) {
    if (error) std::rethrow_exception(error);
    result.emplace(std::move(value));
  });
  io.run();
  return std::move(*result);
}

SteadyTime In(int seconds) { return testing::SystemClock().Steady() + std::chrono::seconds(seconds); }

std::vector<SharedBytes> Bytes(std::string text) {
  std::vector<SharedBytes> pieces;
  pieces.emplace_back(std::move(text));
  return pieces;
}

Task<> Describe(Request request, ResponseWriter& writer) {
  BodyTerms terms;
  const auto body = co_await writer.ReadBody(std::move(terms));
  std::string text =
      request.method + " " + request.target + " " + (body ? *body : body.error().detail) + " " + request.peer->address;
  if (request.peer->tls)
    text += fmt::format(" sni={} certificates={}", request.peer->sni, request.peer->certificates_der.size());
  Headers headers{{"x-name", "value"}};
  co_await writer.Send(200, std::move(headers), Bytes(text));
}

class Fixture : public ::testing::Test {
 protected:
  Fixture() : folder_(::testing::TempDir() + "/http_client_test_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
    ca_ = MakeCertificate({.common_name = "ca", .is_ca = true});
    Write("ca.crt", ca_.certificate_pem);
    Issue("server", "first", "server.example");
  }
  ~Fixture() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) { std::ofstream(File(name)) << text; }
  void Issue(const std::string& file, const std::string& common_name, const std::string& dns) {
    const TestCertificate made =
        MakeCertificate({.common_name = common_name, .dns_names = {dns}, .ip = "127.0.0.1"}, &ca_);
    Write(file + ".crt", made.certificate_pem);
    Write(file + ".key", made.key_pem);
  }
  ServerOptions Tls(const Clock& clock = testing::SystemClock()) const {
    ServerOptions options{.clock = clock};
    options.tls_options.cert_file = File("server.crt");
    options.tls_options.key_file = File("server.key");
    return options;
  }
  ClientOptions Trusting() const {
    ClientOptions options{.clock = testing::SystemClock()};
    options.tls.ca_file = File("ca.crt");
    return options;
  }
  static std::string Https(const Server& server) { return fmt::format("https://127.0.0.1:{}", server.Port()); }

  std::string folder_;
  TestCertificate ca_;
};
class HttpClient : public Fixture {};
class HttpTls : public Fixture {};

TEST_F(HttpClient, SendsAndReusesConnections) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  const auto server = Listen(options, Describe);
  const auto client = NewClient({.clock = testing::SystemClock()});
  const std::string url = fmt::format("http://127.0.0.1:{}/p?q=1", server->Port());
  auto twice = [](Client& client, std::string url) -> Task<std::pair<std::string, std::string>> {
    const Headers headers{{"a", "b"}};
    const auto first = co_await client.Do("POST", url, headers, "body", In(10));
    const auto second = co_await client.Do("POST", url, headers, "body", In(10));
    co_return std::pair(first->body, second->body);
  };
  const auto [first, second] = RunTask(twice(*client, url));
  EXPECT_TRUE(first.starts_with("POST /p?q=1 body 127.0.0.1:")) << first;
  EXPECT_EQ(first, second) << "the same port: the same connection";
}

TEST_F(HttpClient, SaysWhatWentWrong) {
  const auto client = NewClient({.clock = testing::SystemClock()});
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  auto server = Listen(options, [](Request, ResponseWriter& writer) -> Task<> {
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(300));
    co_await timer.async_wait(asio::use_awaitable);
    co_await writer.Send(200, Headers(), std::vector<SharedBytes>());
  });
  const std::string url = fmt::format("http://127.0.0.1:{}/", server->Port());
  const auto late =
      RunTask(client->Do("GET", url, {}, "", testing::SystemClock().Steady() + std::chrono::milliseconds(50)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ClientError::Code::kTimeout) << late.error().message;
  server.reset();
  const auto refused = RunTask(client->Do("GET", url, {}, "", In(10)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ClientError::Code::kConnect) << refused.error().message;
  EXPECT_FALSE(RunTask(client->Do("GET", "ftp://x", {}, "", In(10))));
}

// DNS rebinding: the first lookup returns a harmless address, all later ones return the local machine.
TEST_F(HttpClient, ConnectsOnlyToAddressesThatWereChecked) {
  std::atomic<int> requests = 0;
  ServerOptions server_options{.clock = testing::SystemClock()};
  server_options.tls = false;
  const auto server = Listen(server_options, [&requests](Request, ResponseWriter& writer) -> Task<> {
    ++requests;
    co_await writer.Send(200, Headers(), std::vector<SharedBytes>());
  });
  int lookups = 0;
  std::vector<std::vector<const char*>> answers;
  ClientOptions options{.clock = testing::SystemClock()};
  options.allow_address = &IsGlobalUnicast;
  options.resolve = [&](std::string host) -> Task<ClientResult<std::vector<IpAddress>>> {
    EXPECT_EQ(host, "rebind.example");
    std::vector<IpAddress> addresses;
    for (const char* text : answers[std::min<std::size_t>(lookups, answers.size() - 1)])
      addresses.push_back(*ParseIp(text));
    ++lookups;
    co_return addresses;
  };
  const std::string url = fmt::format("http://rebind.example:{}/", server->Port());
  // 255.0.0.1 is a unicast address without a route: connecting fails immediately, and no packet leaves the machine.
  answers = {{"255.0.0.1"}, {"127.0.0.1"},       {"255.0.0.1", "::ffff:127.0.0.1"},
             {"::1"},       {"169.254.169.254"}, {"0.0.0.0"}};
  const auto client = NewClient(options);
  const auto first = RunTask(client->Do("GET", url, {}, "", In(10)));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ClientError::Code::kConnect) << first.error().message;
  EXPECT_EQ(lookups, 1) << "the answer that was checked is the one that is used";
  for (int i = 1; i < 6; ++i) {
    const auto refused = RunTask(client->Do("GET", url, {}, "", In(10)));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ClientError::Code::kAddressNotAllowed) << refused.error().message;
    EXPECT_EQ(refused.error().message, "address not allowed");
    const auto upgrade = RunTask(client->Upgrade("GET", url, {{"connection", "upgrade"}, {"upgrade", "x"}}, In(10)));
    EXPECT_FALSE(upgrade);
  }
  EXPECT_EQ(requests, 0);
}

TEST_F(HttpClient, NumbersAreNoHostNames) {
  const auto client = NewClient({.clock = testing::SystemClock()});
  for (const char* host :
       {"0177.0.0.1", "127.1", "2130706433", "0x7f000001", "127.0.0.0x1", "010.0.0.1", "127.0.0.1."}) {
    const auto answer = RunTask(client->Do("GET", fmt::format("http://{}:1/", host), {}, "", In(10)));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ClientError::Code::kLookup) << host;
    EXPECT_EQ(answer.error().message, fmt::format("lookup {}: no such host", host));
  }
  for (const char* port : {"http", "80x", "-1", "65536", "8 0"}) {
    const auto answer = RunTask(client->Do("GET", fmt::format("http://127.0.0.1:{}/", port), {}, "", In(10)));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ClientError::Code::kProtocol) << port;
  }
}

TEST_F(HttpClient, StreamsWithBackPressureAndStops) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  const auto server = Listen(options, [](Request, ResponseWriter& writer) -> Task<> {
    co_await writer.Start(200, Headers(), false);
    while (co_await writer.Write(Bytes(std::string(1000, 'x')))) {}
  });
  const auto client = NewClient({.clock = testing::SystemClock()});
  std::size_t got = 0;
  std::function<Task<bool>(int, Headers)> head = [](int code, Headers) -> Task<bool> { co_return code == 200; };
  Client::PieceFn piece = [&got](std::string data) -> Task<bool> {
    got += data.size();
    co_return got < 100'000;
  };
  const auto result =
      RunTask(client->Stream("GET", fmt::format("http://127.0.0.1:{}/", server->Port()), {}, "", head, piece, In(10)));
  ASSERT_TRUE(result);
  EXPECT_GE(got, 100'000u);
}

TEST_F(HttpClient, UpgradesOrTellsWhyNot) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  const auto server = Listen(options, [](Request request, ResponseWriter& writer) -> Task<> {
    if (request.target == "/no") {
      co_await writer.Send(403, Headers(), Bytes("forbidden"));
      co_return;
    }
    Headers headers{{"upgrade", "x"}};
    const auto tunnel = co_await writer.Upgrade(std::move(headers));
    const std::string name = co_await tunnel->Read();
    co_await tunnel->Write("hello " + name);
  });
  const auto client = NewClient({.clock = testing::SystemClock()});
  auto talk = [](Client& client, std::string base) -> Task<std::string> {
    const Headers headers{{"connection", "Upgrade"}, {"upgrade", "x"}};
    auto refused = co_await client.Upgrade("GET", base + "/no", headers, In(10));
    std::string all = std::to_string(refused->response.code) + refused->response.body + " ";
    if (refused->connection) co_return "a refused upgrade has no connection";
    auto upgraded = co_await client.Upgrade("GET", base + "/yes", headers, In(10));
    co_await upgraded->connection->Write("me");
    co_return all + co_await upgraded->connection->Read();
  };
  EXPECT_EQ(RunTask(talk(*client, fmt::format("http://127.0.0.1:{}", server->Port()))), "403forbidden hello me");
}

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

/// Sends two pieces of shared memory; the second one is revoked while it is copied.
Task<> SendRevocable(Request, ResponseWriter& writer) {
  const std::string a(300'000, 'a'), b(300'000, 'b');
  const auto memory = std::make_shared<TestMemory>();
  co_await writer.Start(200, Headers(), true);
  std::vector<SharedBytes> first(1, SharedBytes::InRevocableMemory(memory, a));
  const bool sent = co_await writer.Write(std::move(first));
  EXPECT_TRUE(sent);
  memory->valid = false;
  std::vector<SharedBytes> second(1, SharedBytes::InRevocableMemory(memory, b));
  const bool sent_again = co_await writer.Write(std::move(second));
  EXPECT_FALSE(sent_again);
}

/// The part that is received of an incomplete response.
std::string ReadRevocable(Client& client, std::string url, Headers headers = {}) {
  std::string seen;
  std::function<Task<bool>(int, Headers)> head = [](int code, Headers) -> Task<bool> { co_return code == 200; };
  Client::PieceFn piece = [&seen](std::string data) -> Task<bool> {
    seen += data;
    co_return true;
  };
  const auto result = RunTask(client.Stream("GET", std::move(url), std::move(headers), "", head, piece, In(10)));
  EXPECT_FALSE(result) << "the answer should have broken off";
  return seen;
}

TEST_F(HttpTls, WhatWasTakenBackIsNotSent) {
  const auto server = Listen(Tls(), SendRevocable);
  const auto client = NewClient(Trusting());
  EXPECT_EQ(ReadRevocable(*client, Https(*server) + "/"), std::string(300'000, 'a'));
}

TEST_F(HttpTls, WhatWasTakenBackIsNotCompressed) {
  const auto server = Listen(Tls(), SendRevocable);
  const auto client = NewClient(Trusting());
  const std::string seen = ReadRevocable(*client, Https(*server) + "/", {{"accept-encoding", "gzip"}});
  EXPECT_TRUE(seen.starts_with("\x1f\x8b")) << "the answer is not compressed";
}

TEST_F(HttpTls, WhatWasTakenBackIsNotSentWithoutTlsEither) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  const auto server = Listen(options, SendRevocable);
  const auto client = NewClient({.clock = testing::SystemClock()});
  EXPECT_EQ(ReadRevocable(*client, fmt::format("http://127.0.0.1:{}/", server->Port())), std::string(300'000, 'a'));
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
