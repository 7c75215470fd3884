#pragma once

#include <memory>

#include "lib/storage/entry/shared.h"
#include "lib/storage/watch_cache/watch_cache.h"

namespace apimesh::storage {

/// Where a watch begins.
struct WatchStart {
  SnapshotPtr initial;                    // if set, the objects of this snapshot are sent first
  bool bookmark_after_initial = false;    // send a bookmark after them
  bool bookmark_when_caught_up = false;   // without `initial`: send the same bookmark once nothing is left to send
  Revision after = 0;                     // send events after this revision
  std::optional<meta::ApiError> failure;  // if set, the watch consists of this error only
  bool from_history = false;  // `after` has left the window: read etcd's history until the window is reached
};

/// One watch: the initial state if it was requested, then events by sequence number from the cache's window. It has no
/// queue; a watcher that falls out of the window is closed.
class CacheWatcher final : public Watcher {
 public:
  CacheWatcher(SharedPtr shared, std::shared_ptr<WatchCache> cache, std::string prefix, Filter filter, WatchStart start,
               bool bookmarks, SteadyTime deadline);
  ~CacheWatcher() override;

  Task<std::vector<Event>> Next() override;
  void Stop() override;

 private:
  std::vector<Event> NextInitial();
  Task<std::vector<Event>> NextFromHistory();
  /// Decode the two states of an event. A state that does not exist or cannot be read stays nullptr. ConvertChange() is
  /// for a resource with a SuspendingConversion, and fails if that fails.
  void DecodeChange(const etcd::WatchEvent& change, const std::string& key, CachedEntryPtr& previous,
                    CachedEntryPtr& entry) const;
  Task<meta::Result<>> ConvertChange(const etcd::WatchEvent& change, const std::string& key, CachedEntryPtr& previous,
                                     CachedEntryPtr& entry) const;
  std::vector<Event> Fail(meta::ApiError error);
  Event Bookmark(Revision revision) const;
  SteadyTime NextBookmark() const;

  const SharedPtr shared_;
  const std::shared_ptr<WatchCache> cache_;
  const std::string prefix_;
  const Filter filter_;
  WatchStart start_;
  const bool bookmarks_;
  const SteadyTime deadline_;

  std::string position_;  // the position in the initial state
  std::unique_ptr<etcd::Watch> history_;
  std::uint64_t generation_ = 0;
  std::uint64_t next_ = 0;
  Revision seen_ = 0;
  SteadyTime next_bookmark_;
  bool over_ = false;

  std::mutex mutex_;
  bool stopped_ = false;            // guarded by mutex_
  std::shared_ptr<Wakeup> asleep_;  // guarded by mutex_
};

}  // namespace apimesh::storage
