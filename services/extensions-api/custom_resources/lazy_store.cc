#include "services/extensions-api/custom_resources/lazy_store.h"

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

using UpdateAnswer = meta::Result<std::optional<Store::Update>>;

Task<UpdateAnswer> UpdateAndChange(Store::UpdateFn update, BeforeWrite before_write, const meta::Object* current) {
  ASSIGN_OR_CO_RETURN(std::optional<Store::Update> updated, co_await update(current));
  if (updated) CO_RETURN_IF_ERROR(before_write(updated->object));
  co_return updated;
}

}  // namespace

Task<meta::Result<EntryPtr>> LazyStore::Get(meta::RequestContext ctx, Key key, GetOptions options) {
  return Opened().Get(std::move(ctx), std::move(key), std::move(options));
}

Task<meta::Result<std::unique_ptr<ListCursor>>> LazyStore::List(meta::RequestContext ctx, ListOptions options) {
  return Opened().List(std::move(ctx), std::move(options));
}

Task<meta::Result<std::unique_ptr<Watcher>>> LazyStore::Watch(meta::RequestContext ctx, WatchOptions options) {
  ASSIGN_OR_CO_RETURN(std::unique_ptr<Watcher> watcher, co_await Opened().Watch(std::move(ctx), std::move(options)));
  std::shared_ptr<Watcher> shared = std::move(watcher);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(watchers_, [](const std::weak_ptr<Watcher>& one) { return one.expired(); });
    watchers_.push_back(shared);
  }
  co_return std::make_unique<EndableWatcher>(std::move(shared));
}

Task<meta::Result<EntryPtr>> LazyStore::Create(meta::RequestContext ctx, Key key, meta::Object object,
                                               std::chrono::seconds ttl) {
  if (before_write_) CO_RETURN_IF_ERROR(before_write_(object));
  co_return co_await Opened().Create(std::move(ctx), std::move(key), std::move(object), ttl);
}

Task<meta::Result<Store::UpdateResult>> LazyStore::GuaranteedUpdate(meta::RequestContext ctx, Key key,
                                                                    Preconditions preconditions, bool create_if_missing,
                                                                    UpdateFn update) {
  if (before_write_) {
    update = [before_write = before_write_, inner = std::move(update)](const meta::Object* current) {
      return UpdateAndChange(inner, before_write, current);
    };
  }
  return Opened().GuaranteedUpdate(std::move(ctx), std::move(key), std::move(preconditions), create_if_missing,
                                   std::move(update));
}

Task<meta::Result<meta::Object>> LazyStore::AsRead(meta::Object object) {
  if (before_write_) CO_RETURN_IF_ERROR(before_write_(object));
  co_return co_await Opened().AsRead(std::move(object));
}

Task<meta::Result<EntryPtr>> LazyStore::Delete(meta::RequestContext ctx, Key key, Preconditions preconditions,
                                               ValidateFn validate) {
  return Opened().Delete(std::move(ctx), std::move(key), std::move(preconditions), std::move(validate));
}

Task<meta::Result<>> LazyStore::DeleteUnreadable(meta::RequestContext ctx, Key key) {
  return Opened().DeleteUnreadable(std::move(ctx), std::move(key));
}

Task<meta::Result<std::int64_t>> LazyStore::Count(meta::RequestContext ctx) { return Opened().Count(std::move(ctx)); }

meta::Result<> LazyStore::Ready() const {
  const std::lock_guard lock(mutex_);
  return store_ ? store_->Ready() : meta::Result<>();
}

void LazyStore::EndWatches() {
  std::vector<std::weak_ptr<Watcher>> watchers;
  {
    const std::lock_guard lock(mutex_);
    watchers.swap(watchers_);
  }
  for (const std::weak_ptr<Watcher>& one : watchers) {
    if (const std::shared_ptr<Watcher> watcher = one.lock()) watcher->Stop();
  }
}

Store& LazyStore::Opened() {
  const std::lock_guard lock(mutex_);
  if (!store_) store_ = backend_->Open(config_);
  return *store_;
}

}  // namespace apimesh::extensions_api
