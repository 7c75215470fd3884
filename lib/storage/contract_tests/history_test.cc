// Runs readers, writers and watchers at two replicas while etcd is killed, paused and compacted, and then checks what
// they saw against etcd's own history. APIMESH_HISTORY_SECONDS sets the duration; the default is a few seconds.
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "lib/base/async/wakeup.h"
#include "lib/storage/contract_tests/harness.h"
#include "lib/testing/etcd_process.h"
#include "lib/testing/system_clock.h"

namespace apimesh::storage {
namespace {

using apimesh::testing::EtcdProcess;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kPrefix = "/registry/example.com/widgets/";
constexpr int kKeys = 12;

/// One response to a client, with the newest revision that any client had received before the request was sent.
struct ReadRecord {
  std::string key;
  Revision before;
  Revision revision;  // 0: not found
};
struct ListRecord {
  Revision before;
  Revision at;
  std::map<std::string, Revision> items;
};
struct Seen {
  std::string key;
  bool deleted;
  Revision revision;
  bool operator==(const Seen&) const = default;
};
struct WatchRecord {  // one continuous sequence of events from a revision on, across any number of reconnects
  Revision from;
  std::vector<Seen> events;
};

struct History {
  std::mutex mutex;
  std::vector<ReadRecord> reads;
  std::vector<ListRecord> lists;
  std::vector<WatchRecord> watches;
  std::vector<std::pair<std::string, Revision>> acknowledged;
  std::vector<Seen> truth;
  std::atomic<Revision> newest{0};
  std::atomic<Revision> truth_revision{0};
  std::atomic<bool> stop{false};

  void Observed(Revision revision) {
    Revision known = newest;
    while (known < revision && !newest.compare_exchange_weak(known, revision)) {}
  }
};

std::string NameOf(int key) { return fmt::format("k{:02}", key); }

struct Client {
  StorePtr store;
  History* history;
  std::mt19937 random;
  int Pick(int count) { return static_cast<int>(random() % count); }
};

Task<meta::Result<std::optional<Store::Update>>> Increment(const meta::Object* current, std::string name) {
  Store::Update update;
  update.object = current ? *current : ParseObject(WidgetJson("ns", name, "red"));
  meta::json::object& spec = update.object.Root()["spec"].as_object();
  spec["n"] = (spec.contains("n") ? spec["n"].as_int64() : 0) + 1;
  co_return std::optional<Store::Update>(std::move(update));
}

Task<> Write(Client client) {
  History& history = *client.history;
  while (!history.stop) {
    const std::string name = NameOf(client.Pick(kKeys));
    const Key key = WidgetKey("ns", name);
    if (client.Pick(8) == 0) {
      auto deleted = co_await client.store->Delete(ContextFor(seconds(5)), key, Preconditions(), nullptr);
      if (deleted) history.Observed((*deleted)->ModRevision());
      continue;
    }
    Store::UpdateFn update = [name](const meta::Object* current) { return Increment(current, name); };
    auto updated =
        co_await client.store->GuaranteedUpdate(ContextFor(seconds(5)), key, Preconditions(), true, std::move(update));
    const std::lock_guard lock(history.mutex);
    if (updated) {
      history.Observed(updated->entry->ModRevision());
      history.acknowledged.emplace_back(key.text, updated->entry->ModRevision());
    }
  }
}

Task<> Read(Client client) {
  History& history = *client.history;
  while (!history.stop) {
    const Key key = WidgetKey("ns", NameOf(client.Pick(kKeys)));
    const Revision before = history.newest;
    auto got = co_await client.store->Get(ContextFor(seconds(5)), key, GetOptions());
    if (!got && got.error().Code() != 404) continue;
    if (got) history.Observed((*got)->ModRevision());
    const std::lock_guard lock(history.mutex);
    history.reads.push_back({key.text, before, got ? (*got)->ModRevision() : 0});
  }
}

Task<> Page(Client client) {
  History& history = *client.history;
  while (!history.stop) {
    ListOptions options;
    options.limit = client.Pick(2) == 0 ? 0 : 5;
    ListRecord record{history.newest, 0, {}};
    bool complete = true;
    for (bool first = true; first || !options.continue_token.empty(); first = false) {
      auto cursor = co_await client.store->List(ContextFor(seconds(5)), options);
      if (!(complete = cursor.has_value())) break;
      if (first) record.at = (*cursor)->At();
      if ((*cursor)->At() != record.at) complete = false;
      for (;;) {
        const auto items = (*cursor)->Next(3);
        if (items.empty()) break;
        for (const EntryPtr& item : items) record.items[item->GetKey().text] = item->ModRevision();
      }
      options.continue_token = (*cursor)->ContinueToken();
      const SteadyTime later = testing::SystemClock().Steady() + milliseconds(client.Pick(30));
      co_await SleepUntil(later);
    }
    if (!complete) continue;
    history.Observed(record.at);
    const std::lock_guard lock(history.mutex);
    history.lists.push_back(std::move(record));
  }
}

Task<> Follow(Client client) {
  History& history = *client.history;
  WatchRecord record{0, {}};
  const auto keep = [&] {
    const std::lock_guard lock(history.mutex);
    history.watches.push_back(std::move(record));
    record = {};
  };
  Revision position = 0;
  while (!history.stop) {
    if (position == 0) {
      auto cursor = co_await client.store->List(ContextFor(seconds(5)), ListOptions());
      if (!cursor) continue;
      position = record.from = (*cursor)->At();
    }
    WatchOptions options;
    options.resource_version = std::to_string(position);
    options.allow_bookmarks = true;
    auto watcher = co_await client.store->Watch(ContextFor(seconds(5)), options);
    if (!watcher) continue;
    for (int batches = client.Pick(40); batches >= 0 && !history.stop; --batches) {  // then it reconnects
      const std::vector<Event> events = co_await (*watcher)->Next();
      if (events.empty()) break;
      for (const Event& event : events) {
        if (event.type == Event::Type::kError) {
          keep();
          position = 0;
          batches = 0;
          break;
        }
        position = event.revision;
        if (event.type == Event::Type::kBookmark) continue;
        record.events.push_back({event.object->GetKey().text, event.type == Event::Type::kDeleted, event.revision});
      }
    }
  }
  keep();
}

/// Records etcd's own history with a watch that compaction never overtakes.
Task<> RecordTruth(std::shared_ptr<etcd::Client> client, History* history) {
  etcd::WatchOptions options;
  options.key = kPrefix;
  options.range_end = etcd::PrefixEnd(kPrefix);
  options.start_revision = 1;
  auto watch = client->OpenWatch(options);
  for (;;) {
    auto batch = co_await watch->Next();
    EXPECT_TRUE(batch) << batch.error().message;
    if (!batch) co_return;
    const std::lock_guard lock(history->mutex);
    for (const etcd::WatchEvent& event : batch->events) {
      const std::string key = event.kv.key.substr(std::string_view(kPrefix).size());
      history->truth.push_back({key, event.deleted, static_cast<Revision>(event.kv.mod_revision)});
      if (event.kv.key.ends_with("/end")) co_return;
    }
    history->truth_revision = static_cast<Revision>(batch->revision);
  }
}

class Truth {
 public:
  explicit Truth(const std::vector<Seen>& events) : events_(events) {
    for (const Seen& event : events) by_key_[event.key].push_back(event);
  }
  /// Returns whether `key` was at `revision` (0: absent) at some moment not before `before`.
  bool Possible(const std::string& key, Revision revision, Revision before) {
    const std::vector<Seen>& changes = by_key_[key];
    for (std::size_t i = 0; i <= changes.size(); ++i) {  // the state before changes[i], from changes[i - 1] on
      const bool absent = i == 0 || changes[i - 1].deleted;
      if (absent ? revision != 0 : changes[i - 1].revision != revision) continue;
      if (i == changes.size() || changes[i].revision > before) return true;
    }
    return false;
  }
  std::map<std::string, Revision> StateAt(Revision revision) const {
    std::map<std::string, Revision> state;
    for (const Seen& event : events_) {
      if (event.revision > revision) break;
      if (event.deleted) {
        state.erase(event.key);
      } else {
        state[event.key] = event.revision;
      }
    }
    return state;
  }
  std::vector<Seen> After(Revision revision, std::size_t count) const {
    std::vector<Seen> events;
    for (const Seen& event : events_) {
      if (event.revision > revision && events.size() < count) events.push_back(event);
    }
    return events;
  }

 private:
  const std::vector<Seen>& events_;
  std::map<std::string, std::vector<Seen>> by_key_;
};

/// Describes where two event sequences differ, with the events before and after.
std::string FirstDifference(const std::vector<Seen>& seen, const std::vector<Seen>& expected) {
  const auto [one, other] = std::mismatch(seen.begin(), seen.end(), expected.begin(), expected.end());
  const auto around = [](const std::vector<Seen>& events, std::ptrdiff_t at) {
    std::string text;
    for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(at - 3, 0); i < std::ssize(events) && i < at + 4; ++i) {
      text += fmt::format(" {}{}@{}", events[i].deleted ? "-" : "", events[i].key, events[i].revision);
    }
    return text;
  };
  const std::ptrdiff_t at = one - seen.begin();
  return fmt::format("event {} of {}; seen{}; expected{}", at, seen.size(), around(seen, at), around(expected, at));
}

void Check(History& history) {
  Truth truth(history.truth);
  for (const auto& [key, revision] : history.acknowledged) {
    EXPECT_TRUE(truth.Possible(key, revision, 0)) << "lost write of " << key << " at " << revision;
  }
  for (const ReadRecord& read : history.reads) {
    EXPECT_TRUE(truth.Possible(read.key, read.revision, read.before))
        << "stale read of " << read.key << " at " << read.revision << ", " << read.before << " was known";
  }
  for (const ListRecord& list : history.lists) {
    EXPECT_GE(list.at, list.before) << "stale list";
    EXPECT_EQ(list.items, truth.StateAt(list.at)) << "not the state at " << list.at;
  }
  for (const WatchRecord& watch : history.watches) {
    const std::vector<Seen> expected = truth.After(watch.from, watch.events.size());
    EXPECT_TRUE(watch.events == expected)
        << "watch from " << watch.from << ": " << FirstDifference(watch.events, expected);
  }
}

TEST(History, ReadsAreLinearizableAndWatchesCompleteUnderFaults) {
  const char* given = std::getenv("APIMESH_HISTORY_SECONDS");
  const auto length = seconds(given ? std::atoi(given) : 8);
  EtcdProcess etcd;
  etcd::ClientOptions client_options{.clock = testing::SystemClock()};
  client_options.endpoints = {etcd.Endpoint()};
  History history;
  Harness harness;
  const std::shared_ptr<etcd::Client> oracle = etcd::NewClient(client_options);
  BackendOptions options{.clock = testing::SystemClock()};
  options.bookmark_interval = milliseconds(200);
  options.window_bytes = 30'000;  // small: watches resume from etcd's history, pages come from it
  std::vector<std::shared_ptr<etcd::Client>> clients;
  std::vector<std::shared_ptr<Backend>> replicas;
  auto truth = boost::asio::co_spawn(harness.Context(), RecordTruth(oracle, &history), boost::asio::use_future);
  std::vector<std::future<void>> work;
  for (unsigned replica = 0; replica < 2; ++replica) {
    clients.push_back(etcd::NewClient(client_options));
    replicas.push_back(NewBackend(clients.back(), harness.Context().get_executor(), options));
    const StorePtr store = replicas.back()->Open(WidgetConfig());
    unsigned seed = replica * 100;
    for (auto* activity : {&Write, &Write, &Read, &Read, &Page, &Follow, &Follow}) {
      Client client{store, &history, std::mt19937(++seed)};
      work.push_back(boost::asio::co_spawn(harness.Context(), activity(std::move(client)), boost::asio::use_future));
    }
  }
  std::mt19937 random(7);
  const SteadyTime end = testing::SystemClock().Steady() + length;
  for (int round = 0; testing::SystemClock().Steady() < end; ++round) {
    std::this_thread::sleep_for(milliseconds(300 + random() % 700));
    if (round % 3 == 0) {
      etcd.Kill();
      etcd.Start();
      etcd.WaitUntilReady();
    } else if (round % 3 == 1) {
      etcd.Pause();
      std::this_thread::sleep_for(milliseconds(200 + random() % 500));
      etcd.Continue();
    } else if (const Revision seen = history.truth_revision; seen > 1) {
      harness.Await(oracle->Compact(static_cast<etcd::Revision>(seen), testing::SystemClock().Steady() + seconds(5)));
    }
  }
  history.stop = true;
  for (auto& one : work) one.get();
  while (!harness.Await(
      oracle->Put(std::string(kPrefix) + "ns/end", "", 0, testing::SystemClock().Steady() + seconds(10)))) {}
  truth.get();
  for (const auto& replica : replicas) replica->Stop();
  Check(history);
  std::size_t events = 0;
  for (const WatchRecord& watch : history.watches) events += watch.events.size();
  fmt::print("{} writes, {} reads, {} lists, {} events in {} watches\n", history.acknowledged.size(),
             history.reads.size(), history.lists.size(), events, history.watches.size());
  EXPECT_GT(history.acknowledged.size(), 20u);
  EXPECT_GT(history.reads.size(), 20u);
  EXPECT_GT(history.lists.size(), 5u);
}

}  // namespace
}  // namespace apimesh::storage
