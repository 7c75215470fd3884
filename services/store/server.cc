#include "services/store/server.h"

#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/base/private_folder.h"
#include "services/store/maintenance/auto_compaction.h"
#include "services/store/maintenance/version.h"
#include "services/store/net/listener.h"
#include "services/store/net/short_slice.h"
#include "services/store/rpc/services.h"

namespace apimesh::store {
namespace {

constexpr auto kLeaseCheckInterval = std::chrono::milliseconds(500);
constexpr std::size_t kLeasesACheck = 500;
constexpr auto kDrainTime = std::chrono::milliseconds(500);
constexpr std::size_t kMessageSlack = 512 * 1024;  // etcd allows a message to exceed the request limit by this much

/// Two processes that use one folder would destroy its data.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder) {
    MakePrivateFolder(folder);
    fd_ = open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd_ < 0 || flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      throw std::runtime_error(fmt::format("the data folder {} is in use by another store", folder.string()));
    }
  }
  ~FolderLock() { close(fd_); }

 private:
  int fd_ = -1;
};

std::filesystem::path DataFolder(const Options& options) {
  const std::filesystem::path folder(options.data_dir);
  if (std::filesystem::exists(folder / "member" / "snap" / "db")) {
    throw std::runtime_error(
        fmt::format("{} contains the data of an etcd; convert it with `store snapshot restore` or `store import`",
                    folder.string()));
  }
  return folder;
}

Identity MakeIdentity(const Options& options) {
  Identity identity{.name = options.name};
  identity.peer_urls = options.initial_advertise_peer_urls;
  identity.client_urls = options.advertise_client_urls;
  DeriveIds(options.initial_cluster_token, identity);
  return identity;
}

}  // namespace

class Server::Impl {
 public:
  Impl(Options options, const Clock& clock)
      : options_(std::move(options)),
        lock_(DataFolder(options_)),
        identity_(MakeIdentity(options_)),
        loop_(clock),
        lessor_(clock),
        journal_(loop_, {.folder = options_.data_dir, .sync = options_.sync}),
        store_(journal_, lessor_),
        quota_(store_, journal_, options_.quota_backend_bytes),
        watches_(loop_, store_, identity_, options_.max_request_bytes + kMessageSlack),
        services_{loop_,
                  journal_,
                  store_,
                  watches_,
                  quota_,
                  metrics_,
                  identity_,
                  {options_.max_request_bytes, options_.max_txn_ops},
                  options_.data_dir},
        methods_(AllMethods(services_)),
        listener_(loop_, MakeRoutes()),
        auto_compaction_(loop_, store_, clock, options_) {}

  void Start() {
    store_.on_durable = [this](Revision before, Revision now) { watches_.Publish(before, now); };
    store_.Recover();
    journal_.Start({.durable = [this](std::uint64_t sequence) { store_.OnDurable(sequence); },
                    .base_grew = [this](Revision in_base) { store_.OnBaseGrew(in_base); },
                    .synced = [this](std::chrono::nanoseconds took) { metrics_.Synced(took); }});
    loop_.AtEndOfTurn([this] { journal_.EndOfTurn(); });
    loop_.AtEndOfTurn([this] { listener_.FlushAll(); });
    ScheduleLeaseCheck();
    auto_compaction_.Start();
    watches_.StartProgressNotifications(options_.watch_progress_notify_interval);
    Listen();
  }

  void Run() {
    UseShortTimeSlices();
    loop_.Run();
  }

  void Stop() {
    loop_.Post([this] {
      listener_.StopAccepting();
      listener_.GoAway();
      WaitForClients(loop_.GetClock().Steady() + kDrainTime);
    });
  }

  void Finish() { journal_.Stop(); }

  std::vector<int> ports_;

 private:
  void Listen() {
    std::shared_ptr<TlsServerContext> tls;
    if (!options_.tls.cert_file.empty()) tls = std::make_shared<TlsServerContext>(options_.tls);
    const auto listen = [&](const std::string& url) {
      const ListenUrl parsed = ListenUrl::Parse(url);
      if (parsed.tls && !tls) throw std::invalid_argument(url + " needs --cert-file and --key-file");
      const int port = listener_.Listen(parsed, tls);
      log::Info("serving clients on {}", url);
      return port;
    };
    for (const std::string& url : options_.listen_client_urls) ports_.push_back(listen(url));
    for (const std::string& url : options_.listen_metrics_urls) listen(url);
  }

  Routes MakeRoutes() {
    return {.grpc = [this](std::string_view path, const CallPtr& call) -> std::unique_ptr<CallHandler> {
              const auto found = methods_.find(std::string(path));
              return found == methods_.end() ? nullptr : found->second(call);
            },
            .http = [this](std::string_view path) { return AnswerHttp(path); },
            .max_message_bytes = options_.max_request_bytes + kMessageSlack};
  }

  HttpAnswer AnswerHttp(std::string_view path) {
    path = path.substr(0, path.find('?'));
    if (path == "/health") {
      if (store_.NoSpaceAlarm()) return {503, "application/json", R"({"health":"false","reason":"ALARM NOSPACE"})"};
      return {200, "application/json", R"({"health":"true","reason":""})"};
    }
    if (path == "/livez" || path == "/readyz") return {200, "text/plain; charset=utf-8", "ok\n"};
    if (path == "/version") {
      return {200, "application/json",
              fmt::format(R"({{"etcdserver":"{}","etcdcluster":"{}","storage":"{}"}})", kEtcdVersion, kClusterVersion,
                          kStorageVersion)};
    }
    if (path == "/metrics") return {200, "text/plain; version=0.0.4", metrics_.Render(Gauges())};
    return {404, "text/plain; charset=utf-8", "404 page not found\n"};
  }

  Metrics::Gauges Gauges() {
    return {.revision = store_.Durable(),
            .compacted = store_.Compacted(),
            .keys = store_.Keys(),
            .file_bytes = quota_.Used(),
            .used_bytes = journal_.base().UsedBytes() + journal_.LogBytes(),
            .quota_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(quota_.Bytes(), 0)),
            .watchers = watches_.Watchers(),
            .watch_streams = watches_.Streams(),
            .slow_watchers = watches_.SlowWatchers(),
            .events = watches_.EventsSent(),
            .connections = listener_.Connections(),
            .entries = journal_.LastSequence(),
            .alarm = store_.NoSpaceAlarm()};
  }

  void ScheduleLeaseCheck() {
    loop_.After(kLeaseCheckInterval, [this] {
      for (const LeaseId id : lessor_.Expired(kLeasesACheck)) {
        store_.Begin();
        store_.RevokeLease(id);
        store_.End();
        ++metrics_.leases_expired;
      }
      ScheduleLeaseCheck();
    });
  }

  // Streams do not end by themselves, so the wait is bounded.
  void WaitForClients(SteadyTime deadline) {
    if (listener_.Connections() == 0 || loop_.GetClock().Steady() >= deadline) return loop_.Stop();
    loop_.After(std::chrono::milliseconds(10), [this, deadline] { WaitForClients(deadline); });
  }

  Options options_;
  FolderLock lock_;
  Identity identity_;
  Metrics metrics_;
  EventLoop loop_;
  Lessor lessor_;
  Journal journal_;
  Store store_;
  SpaceQuota quota_;
  WatchHub watches_;
  Services services_;
  Methods methods_;
  Listener listener_;
  AutoCompactor auto_compaction_;
};

Server::Server(Options options, const Clock& clock) : impl_(std::make_unique<Impl>(std::move(options), clock)) {}
Server::~Server() = default;
void Server::Start() { impl_->Start(); }
void Server::Run() {
  impl_->Run();
  impl_->Finish();
}
void Server::Stop() { impl_->Stop(); }
const std::vector<int>& Server::Ports() const { return impl_->ports_; }

}  // namespace apimesh::store
