#include "services/aggregator/edge/latency.h"

#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

struct LatencyTest : FilterTest {
  LatencyTest() {
    exchange.request.target = "/api/v1/pods?fieldSelector=secret";
    exchange.info.verb = meta::Verb::kList;
    exchange.latency = {.authentication = milliseconds(20),
                        .impersonation = Duration::zero(),
                        .queued = milliseconds(300),
                        .authorization = std::chrono::microseconds(1500)};
  }
  /// The annotations of the request if it ends now.
  const std::map<std::string, std::string>& Annotations() {
    AnnotateLatency(exchange);
    return exchange.audit.annotations;
  }
};

TEST_F(LatencyTest, OnlySlowRequestsHaveAnnotations) {
  clock.Advance(milliseconds(500));
  EXPECT_THAT(Annotations(), IsEmpty());
  clock.Advance(milliseconds(1));
  EXPECT_THAT(Annotations(), ElementsAre(Pair("apiserver.latency.k8s.io/apf-queue-wait", "300ms"),
                                         Pair("apiserver.latency.k8s.io/authentication", "20ms"),
                                         Pair("apiserver.latency.k8s.io/authorization", "1.5ms"),
                                         Pair("apiserver.latency.k8s.io/total", "501ms")));
}

TEST_F(LatencyTest, WatchesHaveNoAnnotations) {
  exchange.info.verb = meta::Verb::kWatch;
  clock.Advance(milliseconds(2000));
  EXPECT_THAT(Annotations(), IsEmpty());
}

TEST_F(LatencyTest, WithoutPartsThereIsNoTotal) {
  exchange.latency = {};
  clock.Advance(milliseconds(2000));
  EXPECT_THAT(Annotations(), IsEmpty());
}

TEST_F(LatencyTest, SlowRequestsAreLoggedWithoutTheirQuery) {
  EXPECT_EQ(SlowRequestLine(exchange, milliseconds(500)), std::nullopt);
  EXPECT_EQ(
      SlowRequestLine(exchange, milliseconds(1200)),
      "slow request: GET /api/v1/pods ended without an answer after 1.2s: authentication 20ms, apf-queue-wait 300ms, "
      "authorization 1.5ms, server and client 878.5ms");
  testing::RunTask(exchange.reply.SendText(200, "text/plain", "ok"));
  EXPECT_THAT(*SlowRequestLine(exchange, milliseconds(1200)), HasSubstr("/api/v1/pods answered 200 after 1.2s: "));
  exchange.request.target = "/" + std::string(1000, 'a');
  EXPECT_LT(SlowRequestLine(exchange, milliseconds(1200))->size(), 450u);
  exchange.long_running = true;
  EXPECT_EQ(SlowRequestLine(exchange, milliseconds(1200)), std::nullopt);
}

}  // namespace
}  // namespace apimesh::aggregator
