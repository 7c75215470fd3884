#include "services/aggregator/server.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/http/client.h"
#include "lib/http/test_certificates.h"
#include "lib/testing/system_clock.h"
#include "services/aggregator/filters/authentication/authentication.h"
#include "services/aggregator/filters/cache_control/cache_control.h"
#include "services/aggregator/filters/cors/cors.h"
#include "services/aggregator/filters/max_in_flight/max_in_flight.h"
#include "services/aggregator/filters/priority_and_fairness/options.h"
#include "services/aggregator/test_peers.h"

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace asio = boost::asio;

class AggregatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/aggregator_test_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    ca_ = http::MakeCertificate({.common_name = "ca", .is_ca = true});
    Write("ca.crt", ca_.certificate_pem);
    const auto server = http::MakeCertificate({.common_name = "server", .ip = "127.0.0.1"}, &ca_);
    Write("server.crt", server.certificate_pem);
    Write("server.key", server.key_pem);
    options_.bind_address = "127.0.0.1";
    options_.secure_port = 0;
    // The tests count the requests to the fake servers. tests/e2e/test_fairness.py covers this filter.
    options_.filters.Get<PriorityAndFairnessOptions>().enabled = false;
    options_.tls_cert_file = File("server.crt");
    options_.tls_key_file = File("server.key");
    options_.common.mesh_ca_file = File("ca.crt");
    options_.common.mesh_cert_file = File("server.crt");
    options_.common.mesh_key_file = File("server.key");
    mesh::Description core, extensions;
    core.etag = "1";
    core.group_versions = {DescribeVersion("", "v1", "pods", 1000), DescribeVersion("apps", "v1", "deployments", 500)};
    core.paths = {"/.well-known/openid-configuration"};
    extensions.etag = "1";
    extensions.group_versions = {DescribeVersion("example.com", "v1", "widgets")};
    core_->Describe(core);
    extensions_->Describe(extensions);
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) { std::ofstream(File(name)) << text; }
  std::string Read(const std::string& name) const {
    std::ifstream file(File(name));
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  void Start() {
    Peers peers{core_, extensions_, authority_, [](InvalidationFn report) -> Task<> {
                  InvalidationNotice notice;
                  notice.heartbeat = std::chrono::hours(1);
                  report(notice);
                  co_return;
                }};
    server_ = std::make_unique<AggregatorServer>(options_, peers, runtime_);
    ASSERT_TRUE(testing::Eventually([this] { return Get("/readyz", "admin").code == 200; }));
  }

  http::ClientResponse Do(std::string method, std::string path, http::Headers headers, std::string body = "") {
    return DoAt(server_->Port(), std::move(method), std::move(path), std::move(headers), std::move(body), "");
  }
  http::ClientResponse DoAt(int port, std::string method, std::string path, http::Headers headers, std::string body,
                            std::string certificate) {
    http::ClientOptions options{.clock = testing::SystemClock()};
    options.tls.ca_file = File("ca.crt");
    if (!certificate.empty()) {
      options.tls.cert_file = File(certificate + ".crt");
      options.tls.key_file = File(certificate + ".key");
    }
    const auto client = http::NewClient(options);
    asio::io_context io;
    http::ClientResponse response;
    const std::string url = fmt::format("https://127.0.0.1:{}{}", port, path);
    asio::co_spawn(io,
                   client->Do(method, url, headers, body, testing::SystemClock().Steady() + std::chrono::seconds(20)),
                   [&response](std::exception_ptr, http::ClientResult<http::ClientResponse> result) {
                     if (result) response = std::move(*result);
                   });
    io.run();
    return response;
  }
  /// Requests an upgrade to SPDY and returns the response.
  http::ClientResponse RequestUpgrade(std::string method, std::string path) {
    http::ClientOptions options{.clock = testing::SystemClock()};
    options.tls.ca_file = File("ca.crt");
    const auto client = http::NewClient(options);
    const http::Headers headers{{"authorization", "Bearer admin"}, {"connection", "Upgrade"}, {"upgrade", "SPDY/3.1"}};
    const std::string url = fmt::format("https://127.0.0.1:{}{}", server_->Port(), path);
    asio::io_context io;
    http::Client::Upgraded upgraded;
    asio::co_spawn(io,
                   client->Upgrade(method, url, headers, testing::SystemClock().Steady() + std::chrono::seconds(20)),
                   [&upgraded](std::exception_ptr, http::ClientResult<http::Client::Upgraded> result) {
                     if (result) upgraded = std::move(*result);
                   });
    io.run();
    return std::move(upgraded.response);
  }
  http::ClientResponse Get(std::string path, std::string user, http::Headers headers = {}) {
    headers.emplace_back("authorization", "Bearer " + user);
    return Do("GET", std::move(path), std::move(headers));
  }

  std::string folder_;
  http::TestCertificate ca_;
  Options options_;
  std::shared_ptr<FakeDelegate> core_ = std::make_shared<FakeDelegate>("core"),
                                extensions_ = std::make_shared<FakeDelegate>("extensions");
  std::shared_ptr<FakeAuthority> authority_ = std::make_shared<FakeAuthority>();
  service::Runtime runtime_{"aggregator", service::CommonFlags(), testing::SystemClock()};
  std::unique_ptr<AggregatorServer> server_;
};

TEST_F(AggregatorTest, RoutesToWhoeverServesTheResource) {
  Start();
  EXPECT_EQ(Get("/api/v1/namespaces/a/pods/x?b=c", "admin").body, "core GET /api/v1/namespaces/a/pods/x?b=c as admin");
  EXPECT_EQ(Get("/apis/example.com/v1/widgets/x", "admin").body,
            "extensions GET /apis/example.com/v1/widgets/x? as admin");
  EXPECT_EQ(Get("/.well-known/openid-configuration", "admin").body,
            "core GET /.well-known/openid-configuration? as admin");
  EXPECT_EQ(Get("/apis/unknown/v1/things", "admin").body, "core GET /apis/unknown/v1/things? as admin")
      << "the head of the chain";
}

TEST_F(AggregatorTest, DeadDelegateIs503WithRetryAfterAndComesBack) {
  Start();
  extensions_->Describe(std::nullopt);
  const auto answer = Get("/apis/example.com/v1/widgets", "admin");
  EXPECT_EQ(answer.code, 503);
  EXPECT_EQ(answer.Header("retry-after"), "1");
  EXPECT_EQ(Get("/readyz", "admin").code, 500);
  EXPECT_EQ(Get("/livez", "admin").code, 200);
  mesh::Description again;
  again.group_versions = {DescribeVersion("example.com", "v1", "widgets")};
  extensions_->Describe(again);
  EXPECT_EQ(Get("/apis/example.com/v1/widgets", "admin").code, 200);
}

TEST_F(AggregatorTest, IdentityHeadersOfAnyNameGoToAuthnAuthzAndNoFurther) {
  IdentityHeaders& headers = options_.filters.Get<IdentityHeaders>();
  headers.username = {"X-My-User"};
  headers.group = {"X-My-Group"};
  headers.extra_prefixes = {"X-My-Extra-"};
  Start();
  const http::Headers sent{{"x-my-user", "mallory"},
                           {"x-my-group", "system:masters"},
                           {"x-my-extra-scope", "all"},
                           {"x-remote-user", "mallory"},
                           {"x-other", "stays"}};
  Get("/api/v1/namespaces/a/pods/x/proxy/y", "admin", sent);
  for (const char* name : {"x-my-user", "x-my-group", "x-my-extra-scope", "x-remote-user"}) {
    EXPECT_THAT(authority_->last_headers, ::testing::Contains(::testing::Pair(name, ::testing::_)));
    EXPECT_EQ(core_->Requests().back().Header(name), "") << name;
  }
  EXPECT_EQ(core_->Requests().back().Header("x-other"), "stays");
  EXPECT_EQ(core_->Requests().back().user.name, "admin");
}

TEST_F(AggregatorTest, AuthenticatesAndAuthorizes) {
  authority_->allowed = {"jane get pods"};
  Start();
  EXPECT_EQ(Get("/api/v1/namespaces/a/pods/x", "jane").code, 200);
  const auto forbidden = Get("/api/v1/namespaces/a/pods", "jane");
  EXPECT_EQ(forbidden.code, 403);
  EXPECT_THAT(
      forbidden.body,
      HasSubstr(
          R"(pods is forbidden: User \"jane\" cannot list resource \"pods\" in API group \"\" in the namespace \"a\")"));
  EXPECT_EQ(Get("/api/v1/pods", "bad").code, 401);
  EXPECT_THAT(Get("/x", "jane").body, HasSubstr(R"(forbidden: User \"jane\" cannot get path \"/x\")"));
  authority_->available = false;
  const auto closed = Get("/api/v1/namespaces/a/pods/x", "jane");
  EXPECT_EQ(closed.code, 503);
  EXPECT_EQ(closed.Header("retry-after"), "1");
  EXPECT_EQ(Get("/livez", "jane").code, 200) << "a probe must reach the edge even then";
}

TEST_F(AggregatorTest, NoCredentialOrForgedIdentityGoesFurther) {
  Start();
  const http::Headers headers{{"authorization", "Bearer admin"},    {"x-remote-user", "root"},
                              {"x-remote-group", "system:masters"}, {"x-forwarded-client-cert", "Hash=1"},
                              {"accept", "application/json"},       {"cookie", "c"}};
  EXPECT_EQ(Do("GET", "/api/v1/pods", headers).code, 200);
  const mesh::Request seen = core_->Requests().back();
  EXPECT_EQ(seen.user.name, "admin");
  EXPECT_EQ(seen.headers, (mesh::Headers{{"accept", "application/json"}}));
}

TEST_F(AggregatorTest, ImpersonatesWithTheRightTo) {
  authority_->allowed = {"jane impersonate users", "bob get pods"};
  Start();
  EXPECT_THAT(Get("/api/v1/namespaces/a/pods/x", "jane", {{"impersonate-user", "bob"}}).body, HasSubstr("as bob"));
  EXPECT_THAT(core_->Requests().back().user.groups, ::testing::ElementsAre("system:authenticated"));
  EXPECT_EQ(Get("/api/v1/namespaces/a/pods/x", "jane", {{"impersonate-user", "bob"}, {"impersonate-group", "g"}}).code,
            403);
  EXPECT_EQ(Get("/api/v1/namespaces/a/pods/x", "jane", {{"impersonate-group", "g"}}).code, 400);
  EXPECT_EQ(Get("/api/v1/namespaces/a/pods/x", "bob", {{"impersonate-user", "admin"}}).code, 403);
}

TEST_F(AggregatorTest, AnswersHaveTheUsualHeaders) {
  options_.filters.Get<CacheControlOptions>().hsts_directives = {"max-age=1", "preload"};
  options_.filters.Get<CorsOptions>().allowed_origins = {"//good\\.example(:|$)"};
  Start();
  const auto answer = Get("/api/v1/pods", "admin", {{"audit-id", "my-id"}, {"origin", "https://good.example"}});
  EXPECT_EQ(answer.Header("audit-id"), "my-id");
  EXPECT_EQ(answer.Header("cache-control"), "no-cache, private");
  EXPECT_EQ(answer.Header("strict-transport-security"), "max-age=1; preload");
  EXPECT_EQ(answer.Header("access-control-allow-origin"), "https://good.example");
  EXPECT_EQ(core_->Requests().back().audit_id, "my-id");
  EXPECT_EQ(Do("OPTIONS", "/api/v1/pods", {{"origin", "https://good.example"}}).code, 204);
  EXPECT_EQ(
      Get("/api/v1/pods", "admin", {{"origin", "https://good.example.evil.org"}}).Header("access-control-allow-origin"),
      "");
}

TEST_F(AggregatorTest, RefusesPathsWithTwoMeanings) {
  Start();
  for (const char* path : {"/api/v1/../v1/pods", "/api/%2e%2e/x", "/api/v1/%zz", "/a%00b", "/api/v1/./pods"}) {
    EXPECT_EQ(Get(path, "admin").code, 400) << path;
  }
  EXPECT_EQ(Get("/api/v1/pods?timeout=x", "admin").code, 400);
}

TEST_F(AggregatorTest, ServesDiscovery) {
  Start();
  EXPECT_THAT(Get("/api", "admin").body, HasSubstr(R"("versions":["v1"])"));
  EXPECT_THAT(
      Get("/apis", "admin").body,
      HasSubstr(
          R"("groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion")"));
  EXPECT_THAT(Get("/apis/apps", "admin").body, HasSubstr(R"({"kind":"APIGroup","apiVersion":"v1","name":"apps")"));
  EXPECT_THAT(Get("/apis/example.com/v1", "admin").body, HasSubstr("widgets"));
  EXPECT_THAT(Get("/api/v1/", "admin").body, HasSubstr("pods"));
  const http::Headers aggregated{
      {"accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"}};
  const auto all = Get("/apis", "admin", aggregated);
  EXPECT_EQ(all.Header("content-type"), "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_THAT(all.body, HasSubstr(R"({"metadata":{"name":"example.com"},"versions":[{"version":"v1")"));
  http::Headers conditional = aggregated;
  conditional.emplace_back("if-none-match", std::string(all.Header("etag")));
  EXPECT_EQ(Get("/apis", "admin", conditional).code, 304);
  EXPECT_THAT(Get("/openapi/v3", "admin").body,
              HasSubstr(R"("apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=Hv1"})"));
  EXPECT_THAT(Get("/openapi/v3/apis/example.com/v1", "admin").body, HasSubstr("extensions GET"));
}

TEST_F(AggregatorTest, MergesOpenApiV2) {
  core_->answers["/openapi/v2"] = mesh::Response::Json(200, R"({"paths":{"/a":{}},"definitions":{"A":1}})");
  extensions_->answers["/openapi/v2"] = mesh::Response::Json(200, R"({"paths":{"/b":{}},"definitions":{"A":2,"B":3}})");
  Start();
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(Get("/openapi/v2", "admin").body,
                HasSubstr(R"("paths":{"/a":{},"/b":{}},"definitions":{"A":1,"B":3})"));
  EXPECT_EQ(core_->Requests().size(), 1u) << "asked once while nothing changes";
}

TEST_F(AggregatorTest, ServesHealthVersionMetricsAndIndex) {
  Start();
  EXPECT_EQ(Get("/healthz", "admin").body, "ok");
  EXPECT_EQ(Get("/readyz?verbose&exclude=ping&exclude=none", "admin").body,
            "[+]ping excluded: ok\n[+]core-api ok\n[+]extensions-api ok\n[+]authn-authz ok\n[+]shutdown ok\n"
            "warn: some health checks cannot be excluded: no matches for \"none\"\nreadyz check passed\n");
  EXPECT_EQ(Get("/healthz/core-api", "admin").body, "ok");
  EXPECT_EQ(Get("/healthz/nothing", "admin").code, 404);
  EXPECT_THAT(Get("/version", "admin").body, HasSubstr("\"gitVersion\": \"v1.36"));
  EXPECT_THAT(Get("/", "admin").body, HasSubstr("\"/apis/example.com/v1\""));
  Get("/api/v1/pods", "admin");
  for (int i = 0; i < 5; ++i) Get(fmt::format("/api/v1/made-up-{}?watch=1", i), "bad");
  const std::string metrics = Get("/metrics", "admin").body;
  EXPECT_THAT(
      metrics,
      HasSubstr(
          R"(apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="cluster",)"));
  EXPECT_THAT(metrics, HasSubstr("apiserver_request_duration_seconds_bucket"));
  EXPECT_THAT(metrics, Not(HasSubstr("made-up")));
}

TEST_F(AggregatorTest, LimitsRequestsInFlight) {
  options_.filters.Get<MaxInFlightOptions>().writes = 0;
  Start();
  EXPECT_EQ(Do("POST", "/api/v1/pods", {{"authorization", "Bearer admin"}}, "{}").code, 200) << "0 is no limit";
}

TEST_F(AggregatorTest, WatchesEndWhenTheServerStops) {
  core_->events = {"{\"type\":\"ADDED\"}\n"};
  Start();
  http::ClientResponse watch;
  std::thread watcher([&] { watch = Get("/api/v1/pods?watch=true", "admin"); });
  while (core_->Requests().empty()) std::this_thread::yield();
  server_->Drain(std::chrono::seconds(20));
  watcher.join();
  EXPECT_EQ(watch.code, 200);
  EXPECT_EQ(watch.body, "{\"type\":\"ADDED\"}\n") << "a clean end";
}

TEST_F(AggregatorTest, ListsAreStreamsThatAreRequestedOnce) {
  core_->events = {"part one,", "part two"};
  Start();
  EXPECT_EQ(Get("/api/v1/pods", "admin").body, "part one,part two");
  EXPECT_EQ(core_->Requests().size(), 1u);
}

TEST_F(AggregatorTest, ListsIgnoreARequestForAnUpgrade) {
  core_->events = {"part one,", "part two"};
  Start();
  const http::ClientResponse list = RequestUpgrade("GET", "/api/v1/pods");
  EXPECT_EQ(list.code, 200);
  EXPECT_EQ(list.body, "part one,part two");
  EXPECT_EQ(list.Header("connection"), "close") << "the client may have sent bytes of the other protocol";
}

TEST_F(AggregatorTest, RefusedUpgradeClosesTheConnection) {
  Start();
  const http::ClientResponse refused = RequestUpgrade("POST", "/api/v1/namespaces/a/pods/x/exec");
  EXPECT_EQ(refused.code, 400);
  EXPECT_EQ(refused.Header("connection"), "close");
  EXPECT_THAT(refused.body, HasSubstr("no upgrade here"));
}

TEST_F(AggregatorTest, FrontProxyPortIsForEnvoyOnly) {
  {
    http::ServerOptions any{.clock = testing::SystemClock()};  // a free port for the second listener
    any.tls = false;
    options_.mesh_port = http::Listen(any, [](http::Request, http::ResponseWriter&) -> Task<> { co_return; })->Port();
  }
  Start();
  const auto envoy = http::MakeCertificate({.common_name = "envoy", .uri = "spiffe://apimesh/envoy"}, &ca_);
  Write("envoy.crt", envoy.certificate_pem);
  Write("envoy.key", envoy.key_pem);
  const auto member = http::MakeCertificate({.common_name = "apimesh-envoy", .uri = "spiffe://apimesh/core-api"}, &ca_);
  Write("member.crt", member.certificate_pem);
  Write("member.key", member.key_pem);
  std::string encoded;
  for (const char c : envoy.certificate_pem)
    encoded += c == '\n' ? "%0A" : c == '+' ? "%2B" : c == ' ' ? "%20" : c == '=' ? "%3D" : std::string(1, c);
  const http::Headers headers{{"authorization", "Bearer admin"},
                              {"x-forwarded-client-cert", "Hash=abc;Cert=\"" + encoded + "\""},
                              {"x-forwarded-for", "10.1.2.3"}};
  EXPECT_EQ(DoAt(server_->MeshPort(), "GET", "/api/v1/pods", headers, "", "envoy").code, 200);
  EXPECT_EQ(authority_->last_certificates.size(), 1u);
  EXPECT_EQ(core_->Requests().back().remote_address, "10.1.2.3");
  EXPECT_EQ(DoAt(server_->MeshPort(), "GET", "/api/v1/pods", headers, "", "").code, 0)
      << "no mesh certificate, no answer";
  EXPECT_EQ(DoAt(server_->MeshPort(), "GET", "/api/v1/pods", headers, "", "member").code, 0)
      << "another process of the mesh is not a front proxy";
  EXPECT_EQ(DoAt(server_->MeshPort(), "GET", "/api/v1/pods", headers, "", "envoy").code, 200);
  EXPECT_EQ(Do("GET", "/api/v1/pods", headers).code, 200);
  EXPECT_TRUE(authority_->last_certificates.empty()) << "the public listener trusts no identity headers";
}

TEST_F(AggregatorTest, FrontProxySocketBelievesXfcc) {
  options_.front_proxy_socket = "unix:" + File("edge.sock");
  Start();
  const std::filesystem::perms anyone = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
  EXPECT_EQ(std::filesystem::status(File("edge.sock")).permissions() & anyone, std::filesystem::perms::none);
  std::string encoded;
  for (const char c : ca_.certificate_pem) encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  boost::asio::io_context io;
  boost::asio::local::stream_protocol::socket socket(io);
  socket.connect(File("edge.sock"));
  boost::asio::write(
      socket,
      boost::asio::buffer("GET /api/v1/pods HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nConnection: close\r\n"
                          "X-Forwarded-For: 10.1.2.3\r\nX-Forwarded-Client-Cert: Hash=abc;Cert=\"" +
                          encoded + "\"\r\n\r\n"));
  std::string answer;
  boost::system::error_code end;
  boost::asio::read(socket, boost::asio::dynamic_buffer(answer), end);
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 "));
  EXPECT_EQ(authority_->last_certificates.size(), 1u);
  EXPECT_EQ(core_->Requests().back().remote_address, "10.1.2.3");
}

TEST_F(AggregatorTest, WritesAuditEvents) {
  Write("policy.yaml",
        "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: None\n  "
        "nonResourceURLs: ['/readyz*']\n"
        "- level: RequestResponse\n  verbs: [create]\n- level: Metadata\n");
  options_.audit.policy_file = File("policy.yaml");
  options_.audit.log.path = File("audit.log");
  Start();
  Do("POST", "/api/v1/namespaces/a/pods",
     {{"authorization", "Bearer admin"}, {"audit-id", "one"}, {"user-agent", "test"}}, R"({"kind":"Pod"})");
  Get("/version", "admin");
  const std::string log = Read("audit.log");  // a response waits for its event
  EXPECT_THAT(
      log,
      HasSubstr(
          R"("auditID":"one","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/pods","verb":"create")"));
  EXPECT_THAT(log, HasSubstr(R"("objectRef":{"resource":"pods","namespace":"a","apiVersion":"v1"})"));
  EXPECT_THAT(log, HasSubstr(R"("responseStatus":{"metadata":{},"code":200})"));
  EXPECT_THAT(log,
              HasSubstr(R"("annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"")"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2);
  EXPECT_THAT(log, Not(HasSubstr("Bearer")));
}

}  // namespace
}  // namespace apimesh::aggregator
