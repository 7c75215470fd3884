#include "services/aggregator/fairness/controller.h"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"
#include "services/aggregator/fairness/dumps.h"

namespace apimesh::aggregator {
namespace {

using ::testing::HasSubstr;

admission::ObjectPtr Parse(const std::string& text) {
  return std::make_shared<const meta::Object>(meta::json::parse(text).as_object());
}
admission::ObjectPtr Level(const std::string& name, int shares, int lendable = 0, const std::string& more = "") {
  return Parse(fmt::format(R"({{"metadata":{{"name":"{}","uid":"uid-{}"}},"spec":{{"type":"Limited","limited":{{
      "nominalConcurrencyShares":{},"lendablePercent":{},{}"limitResponse":{{"type":"Queue","queuing":{{"queues":4,"handSize":1,"queueLengthLimit":10}}}}}}}}}})",
                           name, name, shares, lendable, more));
}
admission::ObjectPtr SchemaFor(const std::string& name, const std::string& user, const std::string& level,
                               int precedence = 100) {
  return Parse(fmt::format(R"({{"metadata":{{"name":"{}","uid":"uid-{}"}},"spec":{{"matchingPrecedence":{},
      "priorityLevelConfiguration":{{"name":"{}"}},"rules":[{{"subjects":[{{"kind":"User","user":{{"name":"{}"}}}}],
      "nonResourceRules":[{{"verbs":["*"],"nonResourceURLs":["*"]}}]}}]}}}})",
                           name, name, precedence, level, user));
}

class FairnessControllerTest : public ::testing::Test {
 protected:
  std::string SchemaOf(const std::string& user, std::vector<std::string> groups = {}) const {
    return controller_
        .Classify(meta::ParseRequestInfo("GET", "/version", ""), {.name = user, .groups = std::move(groups)})
        ->schema->Name();
  }
  PriorityLevelPtr Find(const std::string& name) const {
    for (const PriorityLevelPtr& level : controller_.Levels()) {
      if (level->name == name) return level;
    }
    return nullptr;
  }

  testing::ManualClock clock_;
  service::Metrics metrics_{clock_};
  FairnessController controller_{100, clock_, metrics_, [](SteadyTime) {}};
};

TEST_F(FairnessControllerTest, HasTheMandatoryObjectsFromTheStart) {
  EXPECT_EQ(SchemaOf("a", {"system:masters"}), "exempt");
  EXPECT_EQ(SchemaOf("a", {"system:authenticated"}), "catch-all");
  EXPECT_EQ(SchemaOf("in no group"), "catch-all");
  EXPECT_EQ(Find("catch-all")->current_seats, 100);
}

TEST_F(FairnessControllerTest, MatchesByPrecedence) {
  FairnessObjects objects;
  objects.levels["low"] = Level("low", 10);
  objects.schemas["second"] = SchemaFor("second", "a", "low", 200);
  objects.schemas["third"] = SchemaFor("third", "*", "low", 300);
  objects.schemas["dangling"] = SchemaFor("dangling", "a", "missing", 1);
  controller_.Configure(objects);
  EXPECT_EQ(SchemaOf("a"), "second");
  EXPECT_EQ(SchemaOf("b"), "third");
}

TEST_F(FairnessControllerTest, DividesTheSeatsByShares) {
  FairnessObjects objects;
  objects.levels["a"] = Level("a", 75, 40);
  objects.levels["b"] = Level("b", 20);
  controller_.Configure(objects);  // "catch-all" has 5 shares
  EXPECT_EQ(Find("a")->nominal_seats, 75);
  EXPECT_EQ(Find("a")->min_seats, 45);
  EXPECT_EQ(Find("a")->max_seats, 175);
  EXPECT_EQ(Find("b")->nominal_seats, 20);
  EXPECT_EQ(Find("catch-all")->nominal_seats, 5);
}

TEST_F(FairnessControllerTest, BusyLevelsBorrowFromIdleOnes) {
  FairnessObjects objects;
  objects.levels["idle"] = Level("idle", 75, 40);
  objects.levels["busy"] = Level("busy", 20);
  controller_.Configure(objects);
  const PriorityLevelPtr busy = Find("busy");
  std::vector<std::unique_ptr<Ticket>> tickets;
  for (int i = 0; i < 60; ++i) {
    tickets.push_back(std::make_unique<Ticket>());
    tickets.back()->flow_hash = static_cast<std::uint64_t>(i);
    busy->queues.Enter(*tickets.back());
  }
  clock_.Advance(FairnessController::kBorrowingPeriod);
  controller_.Borrow();
  EXPECT_GT(busy->current_seats, 35);
  EXPECT_GE(Find("idle")->current_seats, 45);
  EXPECT_GT(busy->queues.GetDump(false).executing, 35);
}

TEST_F(FairnessControllerTest, ADeletedLevelDrains) {
  FairnessObjects objects;
  objects.levels["old"] = Level("old", 10);
  controller_.Configure(objects);
  auto ticket = std::make_unique<Ticket>();
  Find("old")->queues.Enter(*ticket);
  controller_.Configure({});
  ASSERT_TRUE(Find("old"));
  EXPECT_TRUE(Find("old")->quiescing);
  const std::string dump = DumpPriorityLevels(controller_);
  EXPECT_THAT(dump, HasSubstr("old,"));
  ticket.reset();
  controller_.Configure({});
  EXPECT_FALSE(Find("old"));
}

TEST_F(FairnessControllerTest, ALongPathDoesNotWidenTheOtherLinesOfADump) {
  FairnessObjects objects;
  objects.levels["a"] = Level("a", 10);
  controller_.Configure(objects);
  const meta::RequestInfo long_path = meta::ParseRequestInfo("GET", "/" + std::string(100'000, 'x'), "");
  const meta::RequestInfo short_path = meta::ParseRequestInfo("GET", "/version", "");
  Ticket first, second;
  first.info = &long_path;
  second.info = &short_path;
  Find("a")->queues.Enter(first);
  Find("a")->queues.Enter(second);
  const std::string dump = DumpRequests(controller_, clock_, true);
  EXPECT_THAT(dump, HasSubstr("/version, "));
  EXPECT_GT(dump.size(), 100'000u);
  EXPECT_LT(dump.size(), 105'000u);
}

TEST_F(FairnessControllerTest, AnInvalidCatchAllIsReplaced) {
  FairnessObjects objects;
  objects.levels["catch-all"] = Parse(R"({"metadata":{"name":"catch-all"},"spec":{"type":"Exempt"}})");
  objects.schemas["catch-all"] = SchemaFor("catch-all", "*", "missing");
  controller_.Configure(objects);
  EXPECT_EQ(SchemaOf("a"), "catch-all");
}

TEST(RetryAfter, GrowsWhileManyRequestsAreRejected) {
  RetryAfter retry_after;
  SteadyTime now{std::chrono::seconds(100)};
  int last = 0;
  for (int second = 0; second < 40; ++second, now += std::chrono::seconds(1)) {
    for (int i = 0; i < 200; ++i) last = retry_after.Reject(now);
  }
  EXPECT_EQ(last, RetryAfter::kMaxSeconds);
  for (int second = 0; second < 40; ++second) last = retry_after.Reject(now += std::chrono::seconds(40));
  EXPECT_EQ(last, 1);
}

TEST(WorkEstimate, ListsAreEstimatedFromTheLastAnswer) {
  ListSizes sizes;
  const WatchCounts watches;
  const auto list = [&](std::string_view path, std::string_view query) {
    return EstimateWork(meta::ParseRequestInfo("GET", path, query), path, query, 8, sizes, watches).initial_seats;
  };
  EXPECT_EQ(list("/api/v1/pods", ""), 1);
  sizes.Record(ListSizes::Key("/api/v1/pods", "limit=500&continue=a"), 350'000);
  EXPECT_EQ(list("/api/v1/pods", "limit=500&continue=b"), 4);
  EXPECT_EQ(list("/api/v1/pods", ""), 1);
  sizes.Record(ListSizes::Key("/api/v1/pods", ""), 50'000'000);
  EXPECT_EQ(list("/api/v1/pods", ""), 8);
  EXPECT_EQ(list("/api/v1/pods", "watch=1"), 8);
  EXPECT_EQ(list("/api/v1/pods", "watch=1&resourceVersion=5"), 1);
}

TEST(WorkEstimate, WritesAreEstimatedFromTheWatches) {
  const ListSizes sizes;
  WatchCounts watches;
  const auto watch = [&](std::string_view path) { watches.Add(meta::ParseRequestInfo("GET", path, "watch=1"), 1); };
  for (int i = 0; i < 15; ++i) watch("/api/v1/pods");
  for (int i = 0; i < 10; ++i) watch("/api/v1/namespaces/a/pods");
  const auto write = [&](std::string_view path, int max_seats) {
    return EstimateWork(meta::ParseRequestInfo("PUT", path, ""), path, "", max_seats, sizes, watches);
  };
  EXPECT_EQ(write("/api/v1/namespaces/a/pods/x", 10).final_seats, 3);
  EXPECT_EQ(write("/api/v1/namespaces/a/pods/x", 10).extra_time, std::chrono::milliseconds(5));
  EXPECT_EQ(write("/api/v1/namespaces/b/pods/x", 10).final_seats, 2);
  EXPECT_EQ(write("/api/v1/namespaces/a/pods/x", 1).extra_time, std::chrono::milliseconds(15));
  EXPECT_EQ(write("/api/v1/namespaces/a/secrets/x", 10).final_seats, 0);
}

}  // namespace
}  // namespace apimesh::aggregator
