#include "services/aggregator/server.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "lib/mesh/served_header.h"
#include "services/aggregator/filters/cache_control/cache_control.h"
#include "services/aggregator/filters/cors/cors.h"
#include "services/aggregator/filters/max_in_flight/max_in_flight.h"
#include "services/aggregator/test_server.h"

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST_F(AggregatorTest, AnswersWhenDiscoveryListsNewResources) {
  mesh::Response created = mesh::Response::Json(201, "{}");
  created.headers.emplace_back(mesh::kServedResourceHeader, "new.example.com/v1/gadgets");
  extensions_->answers["/apis/example.com/v1/widgets"] = created;
  Start();
  EXPECT_EQ(Get("/apis/new.example.com/v1", "admin").code, 404);
  std::atomic<bool> described = false;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    mesh::Description both;
    both.etag = "2";
    both.group_versions = {DescribeVersion("example.com", "v1", "widgets"),
                           DescribeVersion("new.example.com", "v1", "gadgets")};
    described = true;
    extensions_->Describe(both);
  });
  const auto answer = Do("POST", "/apis/example.com/v1/widgets", {{"authorization", "Bearer admin"}}, "{}");
  EXPECT_TRUE(described);
  EXPECT_EQ(answer.code, 201);
  EXPECT_EQ(answer.Header(mesh::kServedResourceHeader), "") << "clients do not receive it";
  EXPECT_THAT(Get("/apis", "admin").body, HasSubstr("new.example.com"));
  EXPECT_THAT(Get("/apis/new.example.com/v1", "admin").body, HasSubstr("gadgets"));
  later.join();
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
  extensions_->answers["/openapi/v2"] = mesh::Response::Json(200, R"({"paths":{"/b":{}},"definitions":{"A":1,"B":3}})");
  Start();
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(Get("/openapi/v2", "admin").body,
                HasSubstr(R"("paths":{"/a":{},"/b":{}},"definitions":{"A":1,"B":3})"));
  EXPECT_EQ(core_->Requests().size(), 1u) << "asked once while nothing changes";
  // The same description again may hide a change, and a server that is down changes nothing.
  extensions_->answers["/openapi/v2"] = mesh::Response::Json(200, R"({"paths":{"/c":{}}})");
  mesh::Description same;
  same.etag = "1";
  same.group_versions = {DescribeVersion("example.com", "v1", "widgets")};
  extensions_->Describe(same);
  EXPECT_THAT(Get("/openapi/v2", "admin").body, HasSubstr(R"("paths":{"/a":{},"/c":{}})"));
  extensions_->Describe(same);
  extensions_->answers["/openapi/v2"] = mesh::Response::Error(meta::ServiceUnavailable("down", 1));
  EXPECT_THAT(Get("/openapi/v2", "admin").body, HasSubstr(R"("paths":{"/a":{},"/c":{}})"));
}

TEST_F(AggregatorTest, ServesHealthVersionMetricsAndIndex) {
  Start();
  EXPECT_EQ(Get("/healthz", "admin").body, "ok");
  EXPECT_EQ(Get("/readyz?verbose&exclude=ping&exclude=none", "admin").body,
            "[+]ping excluded: ok\n[+]log ok\n[+]core-api ok\n[+]extensions-api ok\n[+]authn-authz ok\n"
            "[+]poststarthook/max-in-flight-filter ok\n[+]shutdown ok\n"
            "warn: some health checks cannot be excluded: no matches for \"none\"\nreadyz check passed\n");
  EXPECT_EQ(Get("/healthz/core-api", "admin").body, "ok");
  EXPECT_EQ(Get("/healthz/nothing", "admin").code, 404);
  EXPECT_THAT(Get("/version", "admin").body, HasSubstr("\"gitVersion\": \"v1.36"));
  EXPECT_THAT(Get("/", "admin").body, HasSubstr("\"/apis/example.com/v1\""));
  EXPECT_THAT(Get("/", "admin").body, HasSubstr("\"/readyz/ping\""));
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
