#include "services/aggregator/filters/deadline/deadline.h"

#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

using namespace std::chrono_literals;

struct DeadlineTest : FilterTest {
  DeadlineTest() { options.Get<DeadlineOptions>().request_timeout = 60s; }
  /// Returns the time limit of a request with this query.
  std::chrono::nanoseconds LimitOf(const std::string& query) {
    exchange.query = query;
    Run(MakeDeadline(inputs));
    EXPECT_EQ(response.code, 200) << query;
    return exchange.deadline - exchange.started;
  }
};

TEST_F(DeadlineTest, IsTheShorterOfTheOptionAndTheQuery) {
  EXPECT_EQ(LimitOf(""), 60s);
  EXPECT_EQ(LimitOf("timeout=10s"), 10s);
  EXPECT_EQ(LimitOf("limit=5&timeout=1m500ms"), 60s);
  EXPECT_EQ(LimitOf("timeout=2h"), 60s);
}

TEST_F(DeadlineTest, ATimeoutOfZeroOrNoTextIsThatOfTheOption) {
  EXPECT_EQ(LimitOf("timeout=0s"), 60s);
  EXPECT_EQ(LimitOf("timeout="), 60s);
}

TEST_F(DeadlineTest, AMalformedTimeoutIsRefused) {
  exchange.query = "timeout=soon";
  bool reached = false;
  Run(MakeDeadline(inputs), [&](Exchange&) -> Task<> {
    reached = true;
    co_return;
  });
  EXPECT_FALSE(reached);
  EXPECT_EQ(response.code, 400);
  EXPECT_THAT(response.text, ::testing::HasSubstr(
                                 R"(invalid timeout specified in the request URL - time: invalid duration \"soon\")"));
}

TEST_F(DeadlineTest, ALongRunningRequestHasNone) {
  exchange.long_running = true;
  exchange.query = "timeout=10s";
  Run(MakeDeadline(inputs));
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(exchange.deadline, SteadyTime::max());
}

TEST_F(DeadlineTest, AProcessThatDoesNotAnswerIsATimeoutOnlyAfterTheDeadline) {
  exchange.deadline = clock.Steady() + 1s;
  EXPECT_EQ(NotAvailable(exchange, "authn-authz").Code(), 503);
  clock.Advance(1s);
  EXPECT_EQ(NotAvailable(exchange, "authn-authz").Code(), 504);
}

}  // namespace
}  // namespace apimesh::aggregator
