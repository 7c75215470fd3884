#include "services/aggregator/filters/request_info/request_info.h"

#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

struct RequestInfoTest : FilterTest {
  void RunWith(std::string target) {
    exchange.request.target = std::move(target);
    Run(MakeRequestInfo(inputs));
  }
};

TEST_F(RequestInfoTest, ParsesThePath) {
  RunWith("/apis/apps/v1/namespaces/a%2Db/deployments/web/scale?dryRun=All");
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(exchange.path, "/apis/apps/v1/namespaces/a-b/deployments/web/scale");
  EXPECT_EQ(exchange.query, "dryRun=All");
  EXPECT_EQ(exchange.info.ns, "a-b");
  EXPECT_EQ(exchange.info.resource, "deployments");
  EXPECT_EQ(exchange.info.subresource, "scale");
  EXPECT_FALSE(exchange.long_running);
}

TEST_F(RequestInfoTest, KnowsLongRunningRequests) {
  for (const char* target :
       {"/api/v1/pods?watch=1", "/api/v1/namespaces/a/pods/p/log", "/api/v1/namespaces/a/pods/p/exec",
        "/api/v1/namespaces/a/services/s/proxy/x", "/api/v1/namespaces/a/pods/p/portforward", "/debug/pprof/profile"}) {
    RunWith(target);
    EXPECT_TRUE(exchange.long_running) << target;
  }
  for (const char* target : {"/api/v1/pods", "/api/v1/namespaces/a/pods/p/status", "/version"}) {
    RunWith(target);
    EXPECT_FALSE(exchange.long_running) << target;
  }
}

TEST_F(RequestInfoTest, RefusesAnAmbiguousPath) {
  RunWith("/api/v1/../v1/pods");
  EXPECT_EQ(response.code, 400);
  EXPECT_EQ(exchange.path, "/") << "later filters must not see a path that was refused";
}

TEST_F(RequestInfoTest, RefusesTooManyParameters) {
  RunWith("/api/v1/pods?" + std::string(10'000, '&'));
  EXPECT_EQ(response.code, 400);
  RunWith("/api/v1/pods?" + std::string(9'999, '&'));
  EXPECT_EQ(response.code, 200);
}

}  // namespace
}  // namespace apimesh::aggregator
