#include "services/extensions-api/custom_resources/lazy_store.h"

#include <mutex>

namespace apimesh::extensions_api {
namespace {

using namespace storage;

/// A watcher that its store can end.
class EndableWatcher final : public Watcher {
 public:
  explicit EndableWatcher(std::shared_ptr<Watcher> watcher) : watcher_(std::move(watcher)) {}
  Task<std::vector<Event>> Next() override { return watcher_->Next(); }
  void Stop() override { watcher_->Stop(); }

 private:
  const std::shared_ptr<Watcher> watcher_;
};

class OpenedByUse final : public LazyStore {
 public:
  OpenedByUse(std::shared_ptr<Backend> backend, ResourceConfig config) : backend_(std::move(backend)), config_(std::move(config)) {}

  Task<meta::Result<EntryPtr>> Get(meta::RequestContext ctx, Key key, GetOptions options) override {
    return Opened().Get(std::move(ctx), std::move(key), std::move(options));
  }
  Task<meta::Result<std::unique_ptr<ListCursor>>> List(meta::RequestContext ctx, ListOptions options) override {
    return Opened().List(std::move(ctx), std::move(options));
  }
  Task<meta::Result<std::unique_ptr<Watcher>>> Watch(meta::RequestContext ctx, WatchOptions options) override {
    ASSIGN_OR_CO_RETURN(std::unique_ptr<Watcher> watcher, co_await Opened().Watch(std::move(ctx), std::move(options)));
    std::shared_ptr<Watcher> shared = std::move(watcher);
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(watchers_, [](const std::weak_ptr<Watcher>& one) { return one.expired(); });
      watchers_.push_back(shared);
    }
    co_return std::make_unique<EndableWatcher>(std::move(shared));
  }
  Task<meta::Result<EntryPtr>> Create(meta::RequestContext ctx, Key key, meta::Object object, std::chrono::seconds ttl) override {
    return Opened().Create(std::move(ctx), std::move(key), std::move(object), ttl);
  }
  Task<meta::Result<UpdateResult>> GuaranteedUpdate(meta::RequestContext ctx, Key key, Preconditions preconditions, bool create_if_missing,
                                                    UpdateFn update) override {
    return Opened().GuaranteedUpdate(std::move(ctx), std::move(key), std::move(preconditions), create_if_missing, std::move(update));
  }
  Task<meta::Result<EntryPtr>> Delete(meta::RequestContext ctx, Key key, Preconditions preconditions, ValidateFn validate) override {
    return Opened().Delete(std::move(ctx), std::move(key), std::move(preconditions), std::move(validate));
  }
  Task<meta::Result<>> DeleteUnreadable(meta::RequestContext ctx, Key key) override {
    return Opened().DeleteUnreadable(std::move(ctx), std::move(key));
  }
  Task<meta::Result<std::int64_t>> Count(meta::RequestContext ctx) override { return Opened().Count(std::move(ctx)); }
  meta::Result<> Ready() const override {
    const std::lock_guard lock(mutex_);
    return store_ ? store_->Ready() : meta::Result<>();
  }

  void EndWatches() override {
    std::vector<std::weak_ptr<Watcher>> watchers;
    {
      const std::lock_guard lock(mutex_);
      watchers.swap(watchers_);
    }
    for (const std::weak_ptr<Watcher>& one : watchers) {
      if (const std::shared_ptr<Watcher> watcher = one.lock()) watcher->Stop();
    }
  }

 private:
  Store& Opened() {
    const std::lock_guard lock(mutex_);
    if (!store_) store_ = backend_->Open(config_);
    return *store_;
  }

  const std::shared_ptr<Backend> backend_;
  const ResourceConfig config_;
  mutable std::mutex mutex_;
  StorePtr store_;                                 // guarded by mutex_; never replaced
  std::vector<std::weak_ptr<Watcher>> watchers_;  // guarded by mutex_
};

}  // namespace

std::shared_ptr<LazyStore> NewLazyStore(std::shared_ptr<Backend> backend, ResourceConfig config) {
  return std::make_shared<OpenedByUse>(std::move(backend), std::move(config));
}

}  // namespace apimesh::extensions_api
