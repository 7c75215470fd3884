// Clients write, read and watch while the store is killed again and again; then their history is checked.
// APIMESH_STORE_CRASH_SECONDS and APIMESH_STORE_CRASH_CLIENTS make it long; APIMESH_STORE_BINARY tests another binary.
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "proto/etcd/v3/rpc.grpc.pb.h"
#include "services/store/crash/history.h"

namespace apimesh::store::crash {
namespace {

using namespace etcdserverpb;
using SteadyClock = std::chrono::steady_clock;

double Now() { return std::chrono::duration<double>(SteadyClock::now().time_since_epoch()).count(); }

int Setting(const char* name, int fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : std::atoi(value);
}

/// The store as a process of its own on a Unix socket.
class Process {
 public:
  explicit Process(std::filesystem::path folder) : folder_(std::move(folder)) {
    const char* given = std::getenv("APIMESH_STORE_BINARY");
    binary_ = given != nullptr ? std::filesystem::path(given)
                               : std::filesystem::read_symlink("/proc/self/exe").parent_path() / "store";
  }
  ~Process() { Kill(); }
  std::string Address() const { return "unix:" + (folder_ / "socket").string(); }

  void Start() {
    const std::string data = folder_ / "data", url = "unix://" + (folder_ / "socket").string();
    pid_ = fork();
    if (pid_ == 0) {
      execl(binary_.c_str(), "store", "--data-dir", data.c_str(), "--listen-client-urls", url.c_str(), "--log-level",
            "error", nullptr);
      _exit(127);
    }
  }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  std::filesystem::path folder_, binary_;
  pid_t pid_ = -1;
};

std::shared_ptr<grpc::Channel> Connect(const std::string& address, int number) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt("client", number);  // a connection of its own
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
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
        default: reached = WriteKey(*kv, key, std::to_string(number) + "." + std::to_string(i)); break;
      }
      if (!reached) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  // Keys that end with their lease: granted, attached, revoked.
  void WorkWithLeases() {
    const auto channel = Connect(address_, 10001);
    const auto kv = KV::NewStub(channel);
    const auto leases = Lease::NewStub(channel);
    for (int i = 0; !stop; ++i) {
      LeaseGrantRequest grant;
      grant.set_ttl(60);
      LeaseGrantResponse granted;
      grpc::ClientContext context;
      SetDeadline(context);
      if (!leases->LeaseGrant(&context, grant, &granted).ok()) continue;
      const std::string key = "lease" + std::to_string(i);
      if (!WriteKey(*kv, key, "l" + std::to_string(i), granted.id())) continue;
      Write write{key, "", Now()};
      LeaseRevokeRequest revoke;
      revoke.set_id(granted.id());
      LeaseRevokeResponse revoked;
      grpc::ClientContext revoking;
      SetDeadline(revoking);
      const bool done = leases->LeaseRevoke(&revoking, revoke, &revoked).ok();
      write.returned = Now();
      history_.Add(write);  // its revision is not told, so nothing is claimed about it
      if (done) ReadKey(*kv, key);
    }
  }

  // One watch of everything, resumed where it broke; compaction follows it at a distance.
  void WatchAll() {
    const auto channel = Connect(address_, 10002);
    const auto watches = Watch::NewStub(channel);
    const auto kv = KV::NewStub(channel);
    std::int64_t next = 2, compacted = 0;
    while (!watched_enough) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
      const auto stream = watches->Watch(&context);
      WatchRequest request;
      request.mutable_create_request()->set_key(std::string(1, '\0'));
      request.mutable_create_request()->set_range_end(std::string(1, '\0'));
      request.mutable_create_request()->set_start_revision(next);
      stream->Write(request);
      WatchResponse response;
      while (stream->Read(&response)) {
        ASSERT_FALSE(response.canceled()) << response.cancel_reason() << " compacted at " << response.compact_revision();
        for (const auto& event : response.events()) {
          history_.Add(Event{event.kv().mod_revision(), event.kv().key(), event.kv().value()});
          next = event.kv().mod_revision() + 1;
        }
        watched = next - 1;
      }
      stream->Finish();
      if (next - compacted < 500) continue;
      CompactionRequest compaction;
      compaction.set_revision(next - 100);
      CompactionResponse ignored;
      grpc::ClientContext compacting;
      SetDeadline(compacting);
      if (kv->Compact(&compacting, compaction, &ignored).ok()) compacted = next - 100;
    }
  }

  std::int64_t NewestRevision() {
    const auto kv = KV::NewStub(Connect(address_, 10003));
    for (int tries = 0; tries < 100; ++tries) {
      RangeRequest request;
      request.set_key("k0");
      RangeResponse response;
      grpc::ClientContext context;
      SetDeadline(context);
      context.set_wait_for_ready(true);
      if (kv->Range(&context, request, &response).ok()) return response.header().revision();
    }
    return 0;
  }

  std::atomic<bool> stop = false, watched_enough = false;
  std::atomic<std::int64_t> watched = 0;

 private:
  bool WriteKey(KV::Stub& kv, const std::string& key, const std::string& value, std::int64_t lease = 0) {
    PutRequest request;
    request.set_key(key);
    request.set_value(value);
    request.set_lease(lease);
    PutResponse response;
    grpc::ClientContext context;
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
    grpc::ClientContext context;
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
    grpc::ClientContext context;
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

TEST(Crash, NothingLostNothingInvented) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("crash" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Process process(folder);
  process.Start();
  History history;
  Clients clients(process.Address(), history);
  std::vector<std::thread> threads;
  for (int i = 0; i < Setting("APIMESH_STORE_CRASH_CLIENTS", 8); ++i) threads.emplace_back([&, i] { clients.Work(i); });
  threads.emplace_back([&] { clients.WorkWithLeases(); });
  std::thread watcher([&] { clients.WatchAll(); });

  const auto end = SteadyClock::now() + std::chrono::seconds(Setting("APIMESH_STORE_CRASH_SECONDS", 6));
  std::mt19937 random(1);
  int kills = 0;
  while (SteadyClock::now() < end) {
    // Every life begins with proof that the store is up, or a slow machine would see nothing but starts.
    clients.NewestRevision();
    std::this_thread::sleep_for(std::chrono::milliseconds(200 + random() % 1000));
    process.Kill();
    process.Start();
    ++kills;
  }
  clients.stop = true;
  for (std::thread& thread : threads) thread.join();
  const std::int64_t newest = clients.NewestRevision();
  const auto patience = SteadyClock::now() + std::chrono::seconds(30);
  while (clients.watched < newest && SteadyClock::now() < patience) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  clients.watched_enough = true;
  watcher.join();
  EXPECT_GE(clients.watched, newest);
  EXPECT_GT(history.Acknowledged(), 0u);
  std::vector<std::string> faults = history.Check();
  std::printf("%zu writes acknowledged over %d kills, revision %ld\n", history.Acknowledged(), kills, static_cast<long>(newest));
  if (faults.size() > 10) faults.resize(10);
  for (const std::string& fault : faults) ADD_FAILURE() << fault;
  process.Kill();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace apimesh::store::crash
