#include "services/core-api/resources/deferred_store.h"

#include <mutex>

namespace apimesh::core_api {
namespace {

meta::ApiError Stopping() { return meta::ServiceUnavailable("the server is stopping"); }

template <class T>
Task<meta::Result<T>> Fail() {
  co_return Stopping();
}

class DeferredStore final : public storage::Store {
 public:
  explicit DeferredStore(std::function<storage::StorePtr()> find) : find_(std::move(find)) {}

  // These functions are not coroutines: they return the task of the other store, which saves a coroutine frame.
  Task<meta::Result<storage::EntryPtr>> Get(meta::RequestContext ctx, storage::Key key,
                                            storage::GetOptions options) override {
    const storage::StorePtr store = Found();
    return store ? store->Get(std::move(ctx), std::move(key), std::move(options)) : Fail<storage::EntryPtr>();
  }
  Task<meta::Result<std::unique_ptr<storage::ListCursor>>> List(meta::RequestContext ctx,
                                                                storage::ListOptions options) override {
    const storage::StorePtr store = Found();
    return store ? store->List(std::move(ctx), std::move(options)) : Fail<std::unique_ptr<storage::ListCursor>>();
  }
  Task<meta::Result<std::unique_ptr<storage::Watcher>>> Watch(meta::RequestContext ctx,
                                                              storage::WatchOptions options) override {
    const storage::StorePtr store = Found();
    return store ? store->Watch(std::move(ctx), std::move(options)) : Fail<std::unique_ptr<storage::Watcher>>();
  }
  Task<meta::Result<storage::EntryPtr>> Create(meta::RequestContext ctx, storage::Key key, meta::Object object,
                                               std::chrono::seconds ttl) override {
    const storage::StorePtr store = Found();
    return store ? store->Create(std::move(ctx), std::move(key), std::move(object), ttl) : Fail<storage::EntryPtr>();
  }
  Task<meta::Result<UpdateResult>> GuaranteedUpdate(meta::RequestContext ctx, storage::Key key,
                                                    storage::Preconditions preconditions, bool create_if_missing,
                                                    UpdateFn update) override {
    const storage::StorePtr store = Found();
    if (!store) return Fail<UpdateResult>();
    return store->GuaranteedUpdate(std::move(ctx), std::move(key), std::move(preconditions), create_if_missing,
                                   std::move(update));
  }
  Task<meta::Result<storage::EntryPtr>> Delete(meta::RequestContext ctx, storage::Key key,
                                               storage::Preconditions preconditions, ValidateFn validate) override {
    const storage::StorePtr store = Found();
    if (!store) return Fail<storage::EntryPtr>();
    return store->Delete(std::move(ctx), std::move(key), std::move(preconditions), std::move(validate));
  }
  Task<meta::Result<>> DeleteUnreadable(meta::RequestContext ctx, storage::Key key) override {
    const storage::StorePtr store = Found();
    return store ? store->DeleteUnreadable(std::move(ctx), std::move(key)) : Fail<void>();
  }
  Task<meta::Result<std::int64_t>> Count(meta::RequestContext ctx) override {
    const storage::StorePtr store = Found();
    return store ? store->Count(std::move(ctx)) : Fail<std::int64_t>();
  }
  meta::Result<> Ready() const override {
    const storage::StorePtr store = Found();
    return store ? store->Ready() : Stopping();
  }

 private:
  storage::StorePtr Found() const {
    const std::lock_guard lock(mutex_);
    if (!found_) found_ = find_();
    return found_;
  }

  const std::function<storage::StorePtr()> find_;
  mutable std::mutex mutex_;
  mutable storage::StorePtr found_;  // guarded by mutex_
};

}  // namespace

storage::StorePtr MakeDeferredStore(std::function<storage::StorePtr()> find) {
  return std::make_shared<DeferredStore>(std::move(find));
}

}  // namespace apimesh::core_api
