#pragma once

#include <memory>

#include "lib/storage/shared.h"
#include "lib/storage/watch_cache/watch_cache.h"

namespace apimesh::storage {

/// Where a watch begins.
struct WatchStart {
  SnapshotPtr initial;          // set: its objects come first
  bool announce_end = false;    // then a bookmark that says so
  bool tell_place = false;      // without `initial`: the same bookmark, once nothing is left to send
  Revision after = 0;           // events after this revision
  std::optional<meta::ApiError> failure;  // nothing but this error
  bool from_history = false;    // `after` has left the window: from etcd itself until the window is reached
};

/// One watch: the present state if asked for, then events by number from the cache's window. It has no queue of its own;
/// one that falls out of the window is closed.
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

  std::string position_;  // in the initial state
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
