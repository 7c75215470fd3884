#include "services/aggregator/filters/goaway/goaway.h"

#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

struct GoawayTest : FilterTest {
  std::shared_ptr<Filter> WithChance(const std::string& chance) {
    options.Get<GoawayOptions>().chance = chance;
    return MakeGoaway(inputs);
  }
  void UseProtocol(const std::string& protocol) {
    auto peer = std::make_shared<net::Peer>();
    peer->protocol = protocol;
    exchange.request.peer = std::move(peer);
  }
};

TEST_F(GoawayTest, IsOffByDefault) {
  EXPECT_FALSE(MakeGoaway(inputs));
  EXPECT_FALSE(WithChance("0"));
}

TEST_F(GoawayTest, AsksAnHttp2ClientToLeave) {
  UseProtocol("h2");
  Run(WithChance("1"));
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(response.Header("connection"), "close");
}

TEST_F(GoawayTest, NeverClosesConnectionsOfHttp1) {
  UseProtocol("http/1.1");
  Run(WithChance("1"));
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(response.Header("connection"), "");
}

TEST_F(GoawayTest, ChoosesRequestsAtRandom) {
  UseProtocol("h2");
  const std::shared_ptr<Filter> filter = WithChance("0.5");
  int chosen = 0;
  for (int i = 0; i < 200; ++i) {
    RecordedResponse one;
    Exchange request(http::Request(exchange.request), one, clock);
    const Filters chain = {filter, std::make_shared<LastFilter>([](Exchange& reached) -> Task<> {
                             co_await reached.reply.SendText(200, "text/plain", "ok");
                           })};
    testing::RunTask(RunFilters(chain, request));
    if (one.Header("connection") == "close") ++chosen;
  }
  EXPECT_GT(chosen, 40);  // fewer than 41 or more than 159 of 200 happen once in 10^17 runs
  EXPECT_LT(chosen, 160);
}

}  // namespace
}  // namespace apimesh::aggregator
