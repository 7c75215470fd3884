#include "lib/storage/backend.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include "lib/storage/etcd_store/compactor.h"
#include "lib/storage/etcd_store/etcd_store.h"

namespace apimesh::storage {
namespace asio = boost::asio;
namespace {

/// The backend's background loops. They run on their own strand, and each has a cancellation signal.
struct Loops {
  explicit Loops(asio::any_io_executor executor) : strand(asio::make_strand(executor)) {}
  asio::strand<asio::any_io_executor> strand;
  asio::cancellation_signal stop_compaction, stop_progress;
  std::mutex mutex;
  std::vector<std::weak_ptr<EtcdStore>> stores;  // guarded by mutex

  std::vector<std::shared_ptr<EtcdStore>> Live() {
    const std::lock_guard lock(mutex);
    std::erase_if(stores, [](const auto& store) { return store.expired(); });
    std::vector<std::shared_ptr<EtcdStore>> live;
    for (const auto& store : stores) {
      if (auto alive = store.lock()) live.push_back(std::move(alive));
    }
    return live;
  }
};

/// Keeps idle caches close to etcd's revision, so that bookmarks stay ahead of compaction, and frees encodings that are
/// not used.
Task<> AskForProgress(std::shared_ptr<Loops> loops, Duration interval, const Clock& clock) {
  for (;;) {
    co_await SleepFor(interval);
    Encodings::SweepUnused(clock.Steady());
    const auto live = loops->Live();
    if (!live.empty()) live.front()->Cache()->RequestProgress();  // one request serves all caches that share the stream
  }
}

class EtcdBackend final : public Backend {
 public:
  explicit EtcdBackend(SharedPtr shared)
      : shared_(std::move(shared)), loops_(std::make_shared<Loops>(shared_->executor)) {
    // A loop ends only by cancellation. It keeps its cancellation signal until it has ended, because it releases the
    // signal's slot at every step.
    const auto ended = [loops = loops_](std::exception_ptr) {};
    if (shared_->options.compaction_interval > Duration::zero()) {
      asio::co_spawn(loops_->strand, RunCompactor(shared_),
                     asio::bind_cancellation_slot(loops_->stop_compaction.slot(), ended));
    }
    asio::co_spawn(loops_->strand,
                   AskForProgress(loops_, shared_->options.bookmark_interval / 2, shared_->options.clock),
                   asio::bind_cancellation_slot(loops_->stop_progress.slot(), ended));
    if (shared_->options.encryption) {
      const auto reread = [loops = std::weak_ptr(loops_)] {
        const auto alive = loops.lock();
        if (!alive) return;
        for (const auto& store : alive->Live()) store->RereadUnreadable();
      };
      shared_->options.encryption->OnReload(reread);
    }
  }
  ~EtcdBackend() override { Stop(); }

  StorePtr Open(ResourceConfig config) override {
    auto store = std::make_shared<EtcdStore>(shared_, std::move(config));
    const std::lock_guard lock(loops_->mutex);
    loops_->stores.push_back(store);
    return store;
  }

  std::vector<ResourceStats> Stats() const override {
    std::vector<ResourceStats> stats;
    for (const auto& store : loops_->Live()) stats.push_back(store->Stats());
    return stats;
  }

  void Stop() override {
    for (const auto& store : loops_->Live()) store->Stop();
    asio::post(loops_->strand, [loops = loops_] {
      loops->stop_compaction.emit(asio::cancellation_type::terminal);
      loops->stop_progress.emit(asio::cancellation_type::terminal);
    });
  }

 private:
  const SharedPtr shared_;
  const std::shared_ptr<Loops> loops_;
};

}  // namespace

std::shared_ptr<Backend> NewBackend(std::shared_ptr<etcd::Client> client, asio::any_io_executor executor,
                                    BackendOptions options) {
  // Not an object's key: only the revision of the response is used.
  const std::string probe = options.prefix + "/health";
  auto read_index = std::make_shared<ReadIndex>(client, executor, probe, options.read_timeout, options.clock);
  const std::size_t slots = options.lists_in_flight;
  const std::chrono::seconds lease_reuse = options.lease_reuse;
  const Clock& clock = options.clock;
  SharedPtr shared(new Shared{std::move(client),
                              std::move(executor),
                              std::move(options),
                              std::move(read_index),
                              LeasePool(lease_reuse, clock),
                              {},
                              ListSlots(slots)});
  return std::make_shared<EtcdBackend>(std::move(shared));
}

}  // namespace apimesh::storage
