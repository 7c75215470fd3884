#include "lib/etcd/client.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <gtest/gtest.h>

#include "lib/base/async/wakeup.h"
#include "lib/etcd/endpoints.h"
#include "lib/testing/etcd_process.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"

namespace apimesh::etcd {
namespace {

using apimesh::testing::EtcdProcess;
using apimesh::testing::RunTask;
using std::chrono::seconds;

using testing::In;

// GCC 12 destroys a brace-initialized aggregate twice if it is part of a co_await expression, so these functions create
// them.
CompareAndSwap Cas(std::string key, Revision expected, std::string value, bool remove = false) {
  return {.key = std::move(key),
          .expected_mod_revision = expected,
          .remove = remove,
          .value = std::move(value),
          .deadline = In(seconds(20))};
}
RangeOptions Within5() { return {.deadline = In(seconds(5))}; }

TEST(ProgressInOrder, KnowsTheFixedVersions) {
  EXPECT_FALSE(ProgressInOrder("3.4.23"));
  EXPECT_TRUE(ProgressInOrder("3.4.31"));
  EXPECT_FALSE(ProgressInOrder("3.5.12"));
  EXPECT_TRUE(ProgressInOrder("3.5.13"));
  EXPECT_TRUE(ProgressInOrder("3.6.0"));
  EXPECT_TRUE(ProgressInOrder("3.6.0-alpha.1"));
  EXPECT_FALSE(ProgressInOrder("nonsense"));
}

TEST(PrefixEnd, IsTheNextKey) {
  EXPECT_EQ(PrefixEnd("/a/"), "/a0");
  EXPECT_EQ(PrefixEnd("a\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xff"), std::string(1, '\0'));
}

/// Runs against the newest etcd that is installed, and also against Debian's if that is a different one.
class EtcdClient : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    EtcdProcess::Options options;
    if (std::string(GetParam()) == "Debian") {
      const auto binary = EtcdProcess::FindDebianBinary();
      if (!binary || *binary == EtcdProcess::FindBinary()) GTEST_SKIP() << "no second etcd installed";
      options.binary = *binary;
    }
    etcd_ = std::make_unique<EtcdProcess>(options);
    client_ = NewClient({.clock = testing::SystemClock(), .endpoints = {etcd_->Endpoint()}});
  }
  std::unique_ptr<EtcdProcess> etcd_;
  std::unique_ptr<Client> client_;
};

Task<> SwapsAndRanges(Client* client) {
  auto created = co_await client->Swap(Cas("/r/a", 0, "1"));
  EXPECT_TRUE(created && created->swapped);
  auto again = co_await client->Swap(Cas("/r/a", 0, "1"));
  EXPECT_TRUE(again && !again->swapped);
  EXPECT_EQ(again->current.at(0).value, "1");
  EXPECT_EQ(again->current.at(0).mod_revision, created->revision);
  auto updated = co_await client->Swap(Cas("/r/a", created->revision, "2"));
  EXPECT_TRUE(updated && updated->swapped);
  auto put = co_await client->Put("/r/b", "x", 0, In(seconds(5)));
  EXPECT_TRUE(put && *put == updated->revision + 1);

  RangeOptions all{.range_end = PrefixEnd("/r/"), .limit = 1, .deadline = In(seconds(5))};
  auto page = co_await client->Range("/r/", all);
  EXPECT_TRUE(page && page->more);
  EXPECT_EQ(page->count, 2);
  EXPECT_EQ(page->kvs.at(0).value, "2");
  all.revision = created->revision;
  auto old = co_await client->Range("/r/", all);
  EXPECT_EQ(old->kvs.at(0).value, "1");
  EXPECT_EQ(old->revision, *put);

  auto removed = co_await client->Swap(Cas("/r/a", updated->revision, "", true));
  EXPECT_TRUE(removed && removed->swapped);
  auto compacted = co_await client->Compact(removed->revision, In(seconds(5)));
  EXPECT_TRUE(compacted);
  auto too_old = co_await client->Range("/r/", all);
  EXPECT_EQ(too_old.error().code, Error::Code::kCompacted);
  all.revision = removed->revision + 100;
  auto future = co_await client->Range("/r/", all);
  EXPECT_EQ(future.error().code, Error::Code::kFutureRevision);
  auto large = co_await client->Put("/r/c", std::string(2 << 20, 'x'), 0, In(seconds(5)));
  EXPECT_EQ(large.error().code, Error::Code::kTooLarge);
  auto status = co_await client->GetStatus(In(seconds(5)));
  EXPECT_TRUE(status && !status->version.empty());
}
TEST_P(EtcdClient, SwapsAndRanges) {
  RunTask(SwapsAndRanges(client_.get()));
  EXPECT_EQ(client_->ProgressIsSafe(), GetParam() != "Debian");
}

Task<> Leases(Client* client) {
  auto lease = co_await client->GrantLease(seconds(60), In(seconds(5)));
  EXPECT_TRUE(lease);
  auto put = co_await client->Put("/l", "x", *lease, In(seconds(5)));
  EXPECT_TRUE(put);
  auto kept = co_await client->KeepLeaseAlive(*lease, In(seconds(5)));
  EXPECT_TRUE(kept);
  auto revoked = co_await client->RevokeLease(*lease, In(seconds(5)));
  EXPECT_TRUE(revoked);
  auto gone = co_await client->KeepLeaseAlive(*lease, In(seconds(5)));
  EXPECT_EQ(gone.error().code, Error::Code::kLeaseNotFound);
  auto range = co_await client->Range("/l", Within5());
  EXPECT_EQ(range->count, 0);
}
TEST_P(EtcdClient, LeasesDeleteTheirKeys) { RunTask(Leases(client_.get())); }

Task<> Watches(Client* client, bool safe) {
  auto all = client->OpenWatch({.key = "/w/", .range_end = PrefixEnd("/w/"), .start_revision = 1, .previous = true});
  auto one = client->OpenWatch({.key = "/w/1", .start_revision = 1});
  for (int i = 0; i < 3; ++i) co_await client->Put(fmt::format("/w/{}", i), "v", 0, In(seconds(5)));
  auto last = co_await client->Put("/w/0", "w", 0, In(seconds(5)));
  std::vector<WatchEvent> events;
  while (events.size() < 4) {
    auto batch = co_await all->Next();
    EXPECT_TRUE(batch);
    if (!batch) co_return;
    for (auto& event : batch->events) events.push_back(event);
  }
  EXPECT_EQ(events[3].kv.mod_revision, *last);
  EXPECT_EQ(events[3].previous.value, "v");
  EXPECT_EQ(events[0].previous.version, 0);
  auto single = co_await one->Next();
  EXPECT_EQ(single->events.at(0).kv.key, "/w/1");
  if (safe) {
    all->RequestProgress();
    auto progress = co_await all->Next();
    EXPECT_TRUE(progress && progress->progress);
    EXPECT_GE(progress->revision, *last);
  }
  co_await client->Compact(*last, In(seconds(5)));
  auto old = client->OpenWatch({.key = "/w/", .start_revision = 2, .own_stream = true});
  auto compacted = co_await old->Next();
  EXPECT_EQ(compacted.error().code, Error::Code::kCompacted);
  EXPECT_EQ(compacted.error().compact_revision, *last);
}
/// A watch that begins after the newest revision, as one after a list does, must not delay progress notifications of
/// other watches.
Task<> ProgressBesideAWatchOfTheFuture(Client* client) {
  using namespace boost::asio::experimental::awaitable_operators;
  auto first = co_await client->Put("/p/a", "v", 0, In(seconds(5)));
  auto old = client->OpenWatch({.key = "/p/a", .start_revision = *first});
  auto event = co_await old->Next();
  EXPECT_EQ(event->events.size(), 1u);
  auto newest = co_await client->Put("/other", "v", 0, In(seconds(5)));
  auto future = client->OpenWatch({.key = "/p/b", .start_revision = *newest + 1});
  const SteadyTime deadline = In(seconds(5));
  Revision reached = 0;
  while (reached < *newest && testing::SystemClock().Steady() < deadline) {
    old->RequestProgress();
    auto answer = co_await (old->Next() || SleepUntil(In(std::chrono::milliseconds(50))));
    if (answer.index() == 0 && std::get<0>(answer)) reached = std::get<0>(answer)->revision;
  }
  EXPECT_GE(reached, *newest);
  auto written = co_await client->Put("/p/b", "v", 0, In(seconds(5)));
  for (;;) {
    auto batch = co_await future->Next();
    EXPECT_TRUE(batch);
    if (!batch) co_return;
    if (batch->events.empty()) continue;
    EXPECT_EQ(batch->events.at(0).kv.mod_revision, *written) << "what lies before the start is not delivered";
    break;
  }
}
TEST_P(EtcdClient, ProgressIsSentNextToAWatchOfTheFuture) {
  if (GetParam() == "Debian") return;  // its progress notifications are not used
  RunTask(ProgressBesideAWatchOfTheFuture(client_.get()));
}

TEST_P(EtcdClient, ManyWatchesShareOneStream) { RunTask(Watches(client_.get(), GetParam() != "Debian")); }

Task<> LargeRevisionIsJoined(Client* client) {
  auto watch = client->OpenWatch({.key = "/f/", .range_end = PrefixEnd("/f/"), .start_revision = 1});
  const std::string value(1 << 20, 'x');
  for (int i = 0; i < 6; ++i) co_await client->Put(fmt::format("/f/{}", i), value, 0, In(seconds(10)));
  auto late = client->OpenWatch({.key = "/f/", .range_end = PrefixEnd("/f/"), .start_revision = 1});
  std::size_t seen = 0;
  while (seen < 6) {
    auto batch = co_await late->Next();
    EXPECT_TRUE(batch);
    if (!batch) co_return;
    for (const auto& event : batch->events) EXPECT_EQ(event.kv.value.size(), value.size());
    seen += batch->events.size();
  }
  EXPECT_EQ(seen, 6u);
}
TEST_P(EtcdClient, FragmentsAreJoined) { RunTask(LargeRevisionIsJoined(client_.get())); }

INSTANTIATE_TEST_SUITE_P(Versions, EtcdClient, ::testing::Values("Newest", "Debian"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace apimesh::etcd
