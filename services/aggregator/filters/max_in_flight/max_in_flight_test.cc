#include "services/aggregator/filters/max_in_flight/max_in_flight.h"

#include "services/aggregator/filters/priority_and_fairness/options.h"
#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

struct MaxInFlightTest : FilterTest {
  MaxInFlightTest() {
    options.Get<PriorityAndFairnessOptions>().enabled = false;
    options.Get<MaxInFlightOptions>().reads = 1;
    options.Get<MaxInFlightOptions>().writes = 1;
    inputs.add_hook = [this](std::string name, std::function<bool()>) { hooks.push_back(std::move(name)); };
    filter = MakeMaxInFlight(inputs);
  }
  static void Fill(Exchange& one, meta::Verb verb, std::vector<std::string> groups) {
    one.info.verb = verb;
    one.user = MakeUser({.name = "joe", .uid = "", .groups = std::move(groups), .extra = {}});
  }
  /// Sends a second request while the first one is executed, and returns the code of its response.
  int CodeOfSecond(meta::Verb first, meta::Verb second, std::vector<std::string> groups = {}, bool released = false) {
    RecordedResponse other;
    Exchange waiting(http::Request(exchange.request), other, clock);
    Fill(exchange, first, {});
    Fill(waiting, second, std::move(groups));
    const Filters chain = {filter, std::make_shared<LastFilter>([](Exchange& reached) -> Task<> {
                             co_await reached.reply.SendText(200, "text/plain", "ok");
                           })};
    Run(filter, [&](Exchange& reached) -> Task<> {
      if (released) reached.slot->Release();
      co_await RunFilters(chain, waiting);
      co_await reached.reply.SendText(200, "text/plain", "ok");
    });
    EXPECT_EQ(response.code, 200);
    return other.code;
  }

  std::vector<std::string> hooks;
  std::shared_ptr<Filter> filter;
};

TEST_F(MaxInFlightTest, ReplacesPriorityAndFairness) {
  EXPECT_THAT(hooks, ::testing::ElementsAre("max-in-flight-filter"));
  options.Get<PriorityAndFairnessOptions>().enabled = true;
  EXPECT_FALSE(MakeMaxInFlight(inputs));
}

TEST_F(MaxInFlightTest, RefusesARequestAboveTheLimit) {
  EXPECT_EQ(CodeOfSecond(meta::Verb::kGet, meta::Verb::kList), 429);
  EXPECT_EQ(CodeOfSecond(meta::Verb::kUpdate, meta::Verb::kCreate), 429);
}

TEST_F(MaxInFlightTest, CountsReadsAndWritesSeparately) {
  EXPECT_EQ(CodeOfSecond(meta::Verb::kGet, meta::Verb::kUpdate), 200);
  EXPECT_EQ(CodeOfSecond(meta::Verb::kUpdate, meta::Verb::kGet), 200);
}

TEST_F(MaxInFlightTest, AdministratorsAreNotLimited) {
  EXPECT_EQ(CodeOfSecond(meta::Verb::kGet, meta::Verb::kGet, {"system:masters"}), 200);
}

TEST_F(MaxInFlightTest, AReleasedSlotIsFree) {
  EXPECT_EQ(CodeOfSecond(meta::Verb::kGet, meta::Verb::kGet, {}, true), 200);
}

}  // namespace
}  // namespace apimesh::aggregator
