#include "lib/storage/watch_cache/cache_watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/storage/contract_tests/harness.h"
#include "lib/testing/fake_etcd.h"
#include "lib/testing/manual_clock.h"
#include "lib/testing/system_clock.h"

namespace apimesh::storage {
namespace {

using ::testing::ElementsAre;

constexpr const char* kPrefix = "/registry/example.com/widgets/";

/// A cache that receives changes only when the test says so, over an etcd that has them immediately.
class LateCache : public ::testing::Test {
 protected:
  Revision Put(const std::string& name) {
    const auto put =
        harness_.Await(etcd_->Put(kPrefix + ("ns/" + name), WidgetJson("ns", name, "red"), 0, SteadyTime::max()));
    return static_cast<Revision>(*put);
  }
  CachedEntryPtr Entry(const std::string& name, Revision revision) {
    return *CachedEntry::FromJson(recipe_, "ns/" + name, revision, WidgetJson("ns", name, "red"));
  }
  void Deliver(const std::string& name, Revision revision) {
    std::vector<WatchCache::Change> changes;
    changes.push_back({"ns/" + name, Entry(name, revision), revision});
    cache_->Apply(std::move(changes), revision);
  }
  std::vector<std::string> Next(Watcher& watcher, std::size_t count) {
    std::vector<std::string> seen;
    while (seen.size() < count) {
      for (const Event& event : harness_.Await(watcher.Next())) {
        seen.push_back(fmt::format("{}@{}", event.object ? event.object->GetKey().text : "bookmark", event.revision));
      }
    }
    return seen;
  }

  Harness harness_;
  const BackendOptions options_{.clock = testing::SystemClock()};
  std::shared_ptr<testing::FakeEtcd> etcd_ = std::make_shared<testing::FakeEtcd>();
  std::shared_ptr<const EntryRecipe> recipe_ = std::make_shared<const EntryRecipe>(WidgetConfig());
  std::shared_ptr<WatchCache> cache_ = std::make_shared<WatchCache>(recipe_, options_);
  SharedPtr shared_{new Shared{etcd_,
                               harness_.Context().get_executor(),
                               options_,
                               nullptr,
                               LeasePool(std::chrono::seconds(60), options_.clock),
                               {},
                               ListSlots(1)}};
};

TEST_F(LateCache, EventsFromHistoryAreNotRepeated) {
  const Revision a = Put("a"), b = Put("b");
  cache_->Fill({Entry("a", a), Entry("b", b)}, b);
  const Revision c = Put("c");
  WatchStart start;
  start.after = a - 1;  // before the window: read from etcd's history, which is ahead of the cache
  CacheWatcher watcher(shared_, cache_, kPrefix, Filter(), start, false, SteadyTime::max());
  EXPECT_THAT(Next(watcher, 3),
              ElementsAre(fmt::format("ns/a@{}", a), fmt::format("ns/b@{}", b), fmt::format("ns/c@{}", c)));
  // The watcher now waits for the cache, which is still at b.
  auto next = boost::asio::co_spawn(harness_.Context(), watcher.Next(), boost::asio::use_future);
  ASSERT_EQ(next.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  Deliver("c", c);
  const Revision d = Put("d");
  Deliver("d", d);
  const std::vector<Event> events = next.get();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].revision, d);
}

TEST_F(LateCache, EventsLeaveTheWindowWhenTheyAreOld) {
  testing::ManualClock clock;
  const BackendOptions options{.clock = clock};
  WatchCache cache(recipe_, options);
  cache.Fill({}, 1);
  const auto deliver = [&](Revision revision) {
    std::vector<WatchCache::Change> changes;
    changes.push_back({"ns/a", Entry("a", revision), revision});
    cache.Apply(std::move(changes), revision);
  };
  deliver(2);
  clock.Advance(std::chrono::duration_cast<std::chrono::milliseconds>(options.window));
  deliver(3);
  EXPECT_EQ(cache.Floor(), 1u);
  clock.Advance(std::chrono::milliseconds(1));
  deliver(4);
  EXPECT_EQ(cache.Floor(), 2u);
  EXPECT_FALSE(cache.SequenceAfter(1)) << "the event of revision 2 is gone";
  EXPECT_TRUE(cache.SequenceAfter(2));
}

TEST_F(LateCache, UndeliveredOwnWritesAreBounded) {
  cache_->Fill({}, 1);
  const std::string large = WidgetJson("ns", "large", std::string(1 << 20, 'x'));
  Revision revision = 1;
  std::size_t remembered = 0;
  for (int i = 0; i < 200; ++i) {
    cache_->RecordOwnWrite(*CachedEntry::FromJson(recipe_, fmt::format("ns/{}", i), ++revision, large));
  }
  for (int i = 0; i < 200; ++i) remembered += cache_->Newest(fmt::format("ns/{}", i)) != nullptr;
  EXPECT_GT(remembered, 0u);
  EXPECT_LT(remembered, 40u);
  cache_->RecordOwnWrite(Entry("small", ++revision));
  EXPECT_NE(cache_->Newest("ns/small"), nullptr);
  cache_->Apply({}, revision);
  EXPECT_EQ(cache_->Newest("ns/small"), nullptr) << "reported, and not in the cache";
}

}  // namespace
}  // namespace apimesh::storage
