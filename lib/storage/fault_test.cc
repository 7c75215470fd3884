// The behaviour of the store when etcd fails. The fake etcd injects the failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/storage/continue_token.h"
#include "lib/storage/contract_tests/harness.h"
#include "lib/testing/fake_etcd.h"
#include "lib/testing/system_clock.h"

namespace apimesh::storage {
namespace {

using apimesh::testing::FakeEtcd;
using Fault = FakeEtcd::Fault;

constexpr const char* kPrefix = "/registry/example.com/widgets/";

class StoreFaults : public ::testing::Test {
 protected:
  StoreFaults() {
    BackendOptions options{.clock = testing::SystemClock()};
    options.read_timeout = std::chrono::milliseconds(500);
    options.window_bytes = 20'000;
    backend_ = NewBackend(etcd_, harness_.Context().get_executor(), options);
    store_ = backend_->Open(WidgetConfig());
  }
  ~StoreFaults() override { backend_->Stop(); }

  meta::Result<EntryPtr> Create(std::string_view name) {
    return harness_.Await(store_->Create(ContextFor(), WidgetKey("ns", name),
                                         ParseObject(WidgetJson("ns", name, "red")), std::chrono::seconds(0)));
  }
  meta::Result<EntryPtr> Get(std::string_view name, std::string version = "") {
    GetOptions options;
    options.resource_version = version;
    return harness_.Await(store_->Get(ContextFor(), WidgetKey("ns", name), options));
  }
  /// Adds 1 to spec.n; `runs` counts how often the function ran.
  meta::Result<Store::UpdateResult> Increment(std::string_view name, int* runs) {
    auto update = [runs](const meta::Object* current) -> Task<meta::Result<std::optional<Store::Update>>> {
      ++*runs;
      Store::Update result;
      result.object = *current;
      meta::json::object& spec = result.object.Root()["spec"].as_object();
      spec["n"] = (spec.contains("n") ? spec["n"].as_int64() : 0) + 1;
      co_return std::optional<Store::Update>(std::move(result));
    };
    return harness_.Await(store_->GuaranteedUpdate(ContextFor(), WidgetKey("ns", name), {}, false, update));
  }
  std::vector<Event> NextEvents(Watcher& watcher) { return harness_.Await(watcher.Next()); }
  std::unique_ptr<Watcher> Watch(std::string version) {
    WatchOptions options;
    options.resource_version = std::move(version);
    return std::move(harness_.Await(store_->Watch(ContextFor(), options)).value());
  }

  Harness harness_;
  std::shared_ptr<FakeEtcd> etcd_ = std::make_shared<FakeEtcd>();
  std::shared_ptr<Backend> backend_;
  StorePtr store_;
};

TEST_F(StoreFaults, ReadsBackAWriteOfUnknownOutcome) {
  etcd_->FailWrites(Fault::kAmbiguousDone);
  auto done = Create("a");
  ASSERT_TRUE(done);
  EXPECT_EQ((*done)->ModRevision(), static_cast<Revision>(etcd_->NewestRevision()));
  etcd_->FailWrites(Fault::kAmbiguousNotDone);
  const int writes = etcd_->Writes();
  auto unknown = Create("b");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().Code(), 504);
  EXPECT_EQ(etcd_->Writes(), writes + 1) << "a write of unknown outcome was sent again";
  int runs = 0;
  etcd_->FailWrites(Fault::kAmbiguousDone);
  auto updated = Increment("a", &runs);
  ASSERT_TRUE(updated);
  EXPECT_EQ(runs, 1);
  etcd_->FailWrites(Fault::kUnavailable);
  EXPECT_EQ(Create("c").error().Code(), 503);
  etcd_->FailWrites(Fault::kAmbiguousDone);
  EXPECT_TRUE(harness_.Await(store_->Delete(ContextFor(), WidgetKey("ns", "a"), {}, nullptr)));
}

TEST_F(StoreFaults, RetriesALostRaceOnTheNewObject) {
  ASSERT_TRUE(Create("a"));
  etcd_->BeforeNextWrite([](FakeEtcd& etcd) {
    std::string other = WidgetJson("ns", "a", "red");
    other.insert(other.size() - 2, R"(,"n":41)");
    etcd.Set(std::string(kPrefix) + "ns/a", other);
  });
  int runs = 0;
  auto updated = Increment("a", &runs);
  ASSERT_TRUE(updated) << updated.error().Message();
  EXPECT_EQ(runs, 2);
  EXPECT_THAT(std::string(updated->entry->Json().View()), ::testing::HasSubstr(R"("n":42)"));
  etcd_->BeforeNextWrite([](FakeEtcd& etcd) { etcd.Set(std::string(kPrefix) + "ns/a", std::nullopt); });
  EXPECT_EQ(Increment("a", &runs).error().Code(), 404);
}

TEST_F(StoreFaults, ReadsWaitForTheCacheThenGiveUp) {
  ASSERT_TRUE(Create("a"));
  ASSERT_TRUE(Get("a"));
  etcd_->HoldWatches(true);
  ASSERT_TRUE(Create("b"));
  EXPECT_EQ(Get("b").error().Code(), 504);
  EXPECT_GT(Get("b").error().Get().retry_after_seconds, 0);
  EXPECT_TRUE(Get("a", "0"));
  EXPECT_TRUE(Get("b", "0")) << "what this process wrote is known to it";
  etcd_->HoldWatches(false);
  EXPECT_TRUE(Get("b"));
  etcd_->FailReads(true);
  EXPECT_EQ(Get("b").error().Code(), 503);
  EXPECT_TRUE(Get("b", "0"));
}

TEST_F(StoreFaults, FillsAgainAfterCompaction) {
  auto a = Create("a");
  ASSERT_TRUE(Get("a"));
  auto watcher = Watch("");
  ASSERT_EQ(NextEvents(*watcher).size(), 1u);
  etcd_->EndWatches({etcd::Error::Code::kCompacted, "compacted", 5});
  EXPECT_TRUE(NextEvents(*watcher).empty()) << "the client resumes by itself";
  auto b = Create("b");
  ASSERT_TRUE(Get("b"));
  auto resumed = Watch(std::to_string((*a)->ModRevision()));  // read from etcd's history, because the window is new
  const auto events = NextEvents(*resumed);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].revision, (*b)->ModRevision());
}

TEST_F(StoreFaults, EndsWatchesAfterARestore) {
  auto a = Create("a");
  auto b = Create("b");
  ASSERT_TRUE(Get("b"));
  auto watcher = Watch(std::to_string((*b)->ModRevision()));
  etcd_->RestoreTo(static_cast<etcd::Revision>((*a)->ModRevision()));
  const auto events = NextEvents(*watcher);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].type, Event::Type::kError);
  EXPECT_EQ(events[0].error.Code(), 410);
  EXPECT_TRUE(NextEvents(*watcher).empty());
  EXPECT_EQ(Get("b").error().Code(), 404);
  auto from_the_future = Watch(std::to_string((*b)->ModRevision()));
  EXPECT_EQ(NextEvents(*from_the_future).at(0).error.Code(), 410);
}

TEST_F(StoreFaults, ClosesAWatcherThatFallsOutOfTheWindow) {
  ASSERT_TRUE(Create("a"));
  ASSERT_TRUE(Get("a"));
  auto slow = Watch("0");
  ASSERT_EQ(NextEvents(*slow).size(), 1u);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(Create(fmt::format("w{}", i)));
  ASSERT_TRUE(Get("w199"));
  EXPECT_TRUE(NextEvents(*slow).empty());
}

TEST_F(StoreFaults, ManyReadersShareARevisionRead) {
  ASSERT_TRUE(Create("a"));
  ASSERT_TRUE(Get("a"));
  const int before = etcd_->Reads();
  etcd_->HoldReads(true);
  std::vector<std::future<meta::Result<EntryPtr>>> readers;
  for (int i = 0; i < 500; ++i) {
    readers.push_back(boost::asio::co_spawn(
        harness_.Context(), store_->Get(ContextFor(), WidgetKey("ns", "a"), GetOptions()), boost::asio::use_future));
  }
  // Each thread starts its readers in order, so after this all of them are waiting.
  for (int i = 0; i < 2; ++i) boost::asio::post(harness_.Context(), boost::asio::use_future).get();
  etcd_->HoldReads(false);
  for (auto& reader : readers) EXPECT_TRUE(reader.get());
  EXPECT_LE(etcd_->Reads() - before, 3) << "those who came before a read began share it";
}

TEST(ContinueToken, HasKubeApiserversEncoding) {
  storage::ContinueToken token{17, std::string("a\0", 2)};
  EXPECT_EQ(token.Encode(), "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTcsInN0YXJ0IjoiL2FcdTAwMDAifQ");
  EXPECT_EQ(storage::ContinueToken::Decode(token.Encode())->start, token.start);
  for (const char* bad : {"###", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTcsInN0YXJ0IjoiLi4vYiJ9"}) {
    EXPECT_EQ(storage::ContinueToken::Decode(bad).error().Code(), 400) << bad;
  }
}

}  // namespace
}  // namespace apimesh::storage
