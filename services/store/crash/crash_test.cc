// Clients write, read, watch and hold leases while the store is killed or loses power repeatedly. Afterwards their
// history is checked. APIMESH_STORE_CRASH_SECONDS and APIMESH_STORE_CRASH_CLIENTS make the run longer;
// APIMESH_STORE_BINARY tests another binary.
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/testing/system_clock.h"
#include "proto/etcd/v3/rpc.grpc.pb.h"
#include "services/store/crash/process.h"
#include "services/store/crash/test_history.h"

namespace apimesh::store::crash {
namespace {

using namespace etcdserverpb;

double Now() { return std::chrono::duration<double>(testing::SystemClock().Steady().time_since_epoch()).count(); }

int Setting(const char* name, int fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : std::atoi(value);
}

std::shared_ptr<::grpc::Channel> Connect(const std::string& address, int number) {
  ::grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt("client", number);  // forces a separate connection
  return ::grpc::CreateCustomChannel(address, ::grpc::InsecureChannelCredentials(), arguments);
}

void SetDeadline(::grpc::ClientContext& context) {
  context.set_deadline(testing::SystemClock().Now() + std::chrono::seconds(2));
}

class Clients {
 public:
  Clients(std::string address, History& history) : address_(std::move(address)), history_(history) {}

  void Work(int number) {
    const auto kv = KV::NewStub(Connect(address_, number));
    std::mt19937 random(static_cast<unsigned>(number));
    for (int i = 0; !stop; ++i) {
      const std::string key = "k" + std::to_string(random() % 20);
      bool reached = true;
      switch (random() % 4) {
        case 0: reached = ReadKey(*kv, key); break;
        case 1: reached = random() % 4 == 0 ? DeleteKey(*kv, key) : ReadKey(*kv, key); break;
        case 2: reached = ReplaceKey(*kv, key, std::to_string(number) + ".t" + std::to_string(i)); break;
        default: reached = WriteKey(*kv, key, std::to_string(number) + "." + std::to_string(i)); break;
      }
      if (!reached) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  // Keys that are deleted with their lease: granted, attached, revoked.
  void WorkWithLeases() {
    const auto channel = Connect(address_, 10001);
    const auto kv = KV::NewStub(channel);
    const auto leases = Lease::NewStub(channel);
    for (int i = 0; !stop; ++i) {
      LeaseGrantRequest grant;
      grant.set_ttl(60);
      LeaseGrantResponse granted;
      ::grpc::ClientContext context;
      SetDeadline(context);
      if (!leases->LeaseGrant(&context, grant, &granted).ok()) continue;
      const std::string key = "lease" + std::to_string(i);
      history_.Add(Write{key, ""});  // if the outcome of the put stays unknown, the lease expires
      if (!WriteKey(*kv, key, "l" + std::to_string(i), granted.id())) continue;
      Write write{key, "", Now()};
      LeaseRevokeRequest revoke;
      revoke.set_id(granted.id());
      LeaseRevokeResponse revoked;
      ::grpc::ClientContext revoking;
      SetDeadline(revoking);
      const bool done = leases->LeaseRevoke(&revoking, revoke, &revoked).ok();
      write.returned = Now();
      history_.Add(write);  // the response does not contain the revision, so nothing is asserted about it
      if (done) ReadKey(*kv, key);
    }
  }

  // Keys that are deleted because their lease is no longer renewed.
  void WorkWithExpiringLeases() {
    const auto channel = Connect(address_, 10004);
    const auto kv = KV::NewStub(channel);
    const auto leases = Lease::NewStub(channel);
    for (int i = 0; !stop; ++i) {
      LeaseGrantRequest grant;
      grant.set_ttl(kShortTtl);
      LeaseGrantResponse granted;
      ::grpc::ClientContext context;
      SetDeadline(context);
      LeasedKey leased{"expires" + std::to_string(i), Now(), kShortTtl};
      if (!leases->LeaseGrant(&context, grant, &granted).ok()) continue;
      // The deletion may happen; nothing else is known about it.
      history_.Add(Write{leased.key, ""});
      if (!WriteKey(*kv, leased.key, "e" + std::to_string(i), granted.id())) continue;
      for (int renewal = 0; renewal < i % 3 && !stop; ++renewal) {
        std::this_thread::sleep_for(std::chrono::milliseconds(kShortTtl * 400));
        ::grpc::ClientContext renewing;
        SetDeadline(renewing);
        const auto stream = leases->LeaseKeepAlive(&renewing);
        LeaseKeepAliveRequest request;
        request.set_id(granted.id());
        LeaseKeepAliveResponse response;
        const double called = Now();
        if (stream->Write(request) && stream->Read(&response) && response.ttl() > 0) leased.renewed = called;
        stream->WritesDone();
      }
      history_.Add(leased);
    }
  }

  // A watch of all keys that is resumed where it broke. Compaction follows it at a distance.
  void WatchAll() {
    const auto kv = KV::NewStub(Connect(address_, 10002));
    std::int64_t compacted = 0;
    const auto take = [this](Event event) { history_.Add(std::move(event)); };
    const auto compact = [&, this](std::int64_t reached) {
      watched = reached;
      if (reached - compacted < 500) return;
      // Compaction must not overtake slower watchers.
      std::int64_t slowest = reached;
      for (const auto& other : others_watched) slowest = std::min(slowest, other.load());
      CompactionRequest compaction;
      compaction.set_revision(slowest - 100);
      CompactionResponse ignored;
      ::grpc::ClientContext compacting;
      SetDeadline(compacting);
      if (slowest - 100 > compacted && kv->Compact(&compacting, compaction, &ignored).ok()) compacted = slowest - 100;
    };
    Watch(10002, std::string(1, '\0'), std::string(1, '\0'), take, compact);
  }

  // Another watch, of the keys that begin with "k1", which also requests progress notifications.
  void WatchSome(std::size_t number) {
    const auto take = [&, this](Event event) { history_.AddTo(number, "k1", std::move(event)); };
    Watch(20000 + static_cast<int>(number), "k1", "k2", take,
          [&, this](std::int64_t reached) { others_watched[number] = reached; });
  }

  std::int64_t NewestRevision() { return CountPrefix("k0").header().revision(); }
  std::int64_t KeysWithShortLeases() { return CountPrefix("expires").count(); }

  std::atomic<bool> stop = false, watched_enough = false;
  std::atomic<std::int64_t> watched = 0;
  std::array<std::atomic<std::int64_t>, 3> others_watched{};

 private:
  static constexpr int kShortTtl = 2;

  RangeResponse CountPrefix(const std::string& prefix) {
    const auto kv = KV::NewStub(Connect(address_, 10003));
    RangeResponse response;
    for (int tries = 0; tries < 100; ++tries) {
      RangeRequest request;
      request.set_key(prefix);
      request.set_range_end(prefix + "\x7f");
      request.set_count_only(true);
      ::grpc::ClientContext context;
      SetDeadline(context);
      context.set_wait_for_ready(true);
      if (kv->Range(&context, request, &response).ok()) break;
    }
    return response;
  }

  // A progress notification at R promises that no event up to R follows.
  void Watch(int number, const std::string& key, const std::string& end, const std::function<void(Event)>& take,
             const std::function<void(std::int64_t)>& reached) {
    const auto watches = etcdserverpb::Watch::NewStub(Connect(address_, number));
    std::int64_t next = 2;
    while (!watched_enough) {
      ::grpc::ClientContext context;
      context.set_deadline(testing::SystemClock().Now() + std::chrono::seconds(1));
      const auto stream = watches->Watch(&context);
      WatchRequest request;
      request.mutable_create_request()->set_key(key);
      request.mutable_create_request()->set_range_end(end);
      request.mutable_create_request()->set_start_revision(next);
      stream->Write(request);
      WatchRequest ask;
      ask.mutable_progress_request();
      stream->Write(ask);
      WatchResponse response;
      while (stream->Read(&response)) {
        if (response.canceled()) {
          history_.AddFault(fmt::format("watcher {} was cancelled at {}: {} compacted at {}", number, next,
                                        response.cancel_reason(), response.compact_revision()));
          watched_enough = true;
          break;
        }
        for (const auto& event : response.events()) {
          if (event.kv().mod_revision() < next) {
            history_.AddFault(
                fmt::format("watcher {}: an event of {}, when {} was next", number, event.kv().mod_revision(), next));
          }
          take(Event{event.kv().mod_revision(), event.kv().key(), event.kv().value(), Now()});
          next = event.kv().mod_revision() + 1;
        }
        const bool progress = response.events().empty() && !response.created();
        if (progress) next = std::max(next, response.header().revision() + 1);
        reached(next - 1);
        if (progress && !stop) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (progress) stream->Write(ask);
      }
      stream->Finish();
    }
  }

  // Writes only if the key has not changed since it was read.
  bool ReplaceKey(KV::Stub& kv, const std::string& key, const std::string& value) {
    RangeRequest range;
    range.set_key(key);
    RangeResponse found;
    ::grpc::ClientContext reading;
    SetDeadline(reading);
    if (!kv.Range(&reading, range, &found).ok()) return false;
    TxnRequest request;
    auto* compare = request.add_compare();
    compare->set_key(key);
    compare->set_target(Compare::MOD);
    compare->set_mod_revision(found.kvs_size() == 1 ? found.kvs(0).mod_revision() : 0);
    auto* put = request.add_success()->mutable_request_put();
    put->set_key(key);
    put->set_value(value);
    request.add_failure()->mutable_request_range()->set_key(key);
    TxnResponse response;
    ::grpc::ClientContext context;
    SetDeadline(context);
    Write write{key, value, Now()};
    const bool ok = kv.Txn(&context, request, &response).ok();
    write.returned = Now();
    if (ok && !response.succeeded()) {
      const auto& now = response.responses(0).response_range();
      Read read{key, write.called, write.returned, response.header().revision()};
      if (now.kvs_size() == 1) {
        read.mod_revision = now.kvs(0).mod_revision();
        read.value = now.kvs(0).value();
        if (read.mod_revision == compare->mod_revision()) history_.AddFault("a compare failed that holds, of " + key);
      }
      history_.Add(read);
      return true;
    }
    write.revision = ok ? response.header().revision() : 0;
    history_.Add(write);
    return ok;
  }
  bool WriteKey(KV::Stub& kv, const std::string& key, const std::string& value, std::int64_t lease = 0) {
    PutRequest request;
    request.set_key(key);
    request.set_value(value);
    request.set_lease(lease);
    PutResponse response;
    ::grpc::ClientContext context;
    SetDeadline(context);
    Write write{key, value, Now()};
    const bool ok = kv.Put(&context, request, &response).ok();
    write.returned = Now();
    write.revision = ok ? response.header().revision() : 0;
    history_.Add(write);
    return ok;
  }
  bool DeleteKey(KV::Stub& kv, const std::string& key) {
    DeleteRangeRequest request;
    request.set_key(key);
    DeleteRangeResponse response;
    ::grpc::ClientContext context;
    SetDeadline(context);
    Write write{key, "", Now()};
    const bool ok = kv.DeleteRange(&context, request, &response).ok();
    write.returned = Now();
    write.revision = ok && response.deleted() == 1 ? response.header().revision() : 0;
    history_.Add(write);
    return ok;
  }
  bool ReadKey(KV::Stub& kv, const std::string& key) {
    RangeRequest request;
    request.set_key(key);
    RangeResponse response;
    ::grpc::ClientContext context;
    SetDeadline(context);
    Read read{key, Now()};
    if (!kv.Range(&context, request, &response).ok()) return false;
    read.returned = Now();
    read.revision = response.header().revision();
    if (response.kvs_size() == 1) {
      read.mod_revision = response.kvs(0).mod_revision();
      read.value = response.kvs(0).value();
    }
    history_.Add(read);
    return true;
  }

  std::string address_;
  History& history_;
};

void CrashAgainAndAgain(bool power_failures, int seconds) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) /
                                       ("crash" + std::to_string(::getpid()) + (power_failures ? "p" : "k"));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Process process(folder);
  if (power_failures) process.WithPowerFailures();
  process.Start();
  History history;
  Clients clients(process.Address(), history);
  std::vector<std::thread> threads, watchers;
  for (int i = 0; i < Setting("APIMESH_STORE_CRASH_CLIENTS", 16); ++i)
    threads.emplace_back([&, i] { clients.Work(i); });
  threads.emplace_back([&] { clients.WorkWithLeases(); });
  threads.emplace_back([&] { clients.WorkWithExpiringLeases(); });
  watchers.emplace_back([&] { clients.WatchAll(); });
  for (std::size_t i = 0; i < clients.others_watched.size(); ++i)
    watchers.emplace_back([&, i] { clients.WatchSome(i); });

  const auto end =
      testing::SystemClock().Steady() + std::chrono::seconds(Setting("APIMESH_STORE_CRASH_SECONDS", seconds));
  std::mt19937 random(1);
  int kills = 0;
  while (testing::SystemClock().Steady() < end) {
    // Each life of the process begins with a proof that the store is up; otherwise a slow machine would only see
    // starts.
    clients.NewestRevision();
    // Some lives are long enough for leases to expire.
    std::this_thread::sleep_for(std::chrono::milliseconds(200 + random() % (kills % 4 == 3 ? 4000 : 1000)));
    process.Kill();
    process.Start();
    ++kills;
  }
  clients.stop = true;
  for (std::thread& thread : threads) thread.join();
  testing::Eventually([&] { return clients.KeysWithShortLeases() == 0; });
  const std::int64_t newest = clients.NewestRevision();
  const auto all_watched = [&] {
    return clients.watched >= newest &&
           std::ranges::all_of(clients.others_watched, [&](const auto& w) { return w >= newest; });
  };
  EXPECT_TRUE(testing::Eventually(all_watched));
  clients.watched_enough = true;
  for (std::thread& watcher : watchers) watcher.join();
  EXPECT_GT(history.Acknowledged(), 0u);
  std::vector<std::string> faults = history.Check();
  std::printf("%zu writes acknowledged over %d kills, revision %ld\n", history.Acknowledged(), kills,
              static_cast<long>(newest));
  if (faults.size() > 10) faults.resize(10);
  for (const std::string& fault : faults) ADD_FAILURE() << fault;
  process.Kill();
  std::filesystem::remove_all(folder);
}

TEST(Crash, NoWriteIsLostOrInvented) { CrashAgainAndAgain(false, 10); }

TEST(Crash, NoWriteIsLostWhenPowerFails) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's runtime must be the first library, so that nothing can be preloaded";
#endif
  CrashAgainAndAgain(true, 10);
}

}  // namespace
}  // namespace apimesh::store::crash
