#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/storage/backend.h"

namespace apimesh::extensions_api {

/// Changes an object before it is written to what a reader sees after the write.
using BeforeWrite = std::function<meta::Result<>(meta::Object& object)>;

/// A store that is opened by its first use, so that an unused definition needs no watch and no cache.
class LazyStore final : public storage::Store {
 public:
  /// `before_write` may be empty.
  LazyStore(std::shared_ptr<storage::Backend> backend, storage::ResourceConfig config, BeforeWrite before_write)
      : backend_(std::move(backend)), config_(std::move(config)), before_write_(std::move(before_write)) {}

  /// Must be called when the definition was deleted or has changed: watches end, and their clients start again.
  void EndWatches();

  Task<meta::Result<storage::EntryPtr>> Get(meta::RequestContext ctx, storage::Key key,
                                            storage::GetOptions options) override;
  Task<meta::Result<std::unique_ptr<storage::ListCursor>>> List(meta::RequestContext ctx,
                                                                storage::ListOptions options) override;
  Task<meta::Result<std::unique_ptr<storage::Watcher>>> Watch(meta::RequestContext ctx,
                                                              storage::WatchOptions options) override;
  Task<meta::Result<storage::EntryPtr>> Create(meta::RequestContext ctx, storage::Key key, meta::Object object,
                                               std::chrono::seconds ttl) override;
  Task<meta::Result<UpdateResult>> GuaranteedUpdate(meta::RequestContext ctx, storage::Key key,
                                                    storage::Preconditions preconditions, bool create_if_missing,
                                                    UpdateFn update) override;
  Task<meta::Result<meta::Object>> AsRead(meta::Object object) override;
  Task<meta::Result<storage::EntryPtr>> Delete(meta::RequestContext ctx, storage::Key key,
                                               storage::Preconditions preconditions, ValidateFn validate) override;
  Task<meta::Result<>> DeleteUnreadable(meta::RequestContext ctx, storage::Key key) override;
  Task<meta::Result<std::int64_t>> Count(meta::RequestContext ctx) override;
  meta::Result<> Ready() const override;

 private:
  storage::Store& Opened();

  const std::shared_ptr<storage::Backend> backend_;
  const storage::ResourceConfig config_;
  const BeforeWrite before_write_;
  mutable std::mutex mutex_;
  storage::StorePtr store_;                                // guarded by mutex_; set once
  std::vector<std::weak_ptr<storage::Watcher>> watchers_;  // guarded by mutex_
};

}  // namespace apimesh::extensions_api
