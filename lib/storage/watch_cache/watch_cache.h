#pragma once

#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "lib/base/async/wakeup.h"
#include "lib/etcd/client.h"
#include "lib/storage/backend.h"
#include "lib/storage/entry/filter.h"
#include "lib/storage/watch_cache/index.h"
#include "lib/storage/watch_cache/tree.h"

namespace apimesh::storage {

/// All objects of a resource at one revision.
struct Snapshot {
  Tree tree;
  Revision revision = 0;
  std::uint64_t sequence = 0;                         // of the first event that is not part of the snapshot
  std::size_t unreadable = 0;                         // number of objects that cannot be read; no list contains them
  std::size_t bytes = 0;                              // size of the objects' JSON; maintained for the newest state only
  std::vector<std::shared_ptr<const Index>> indexes;  // built from exactly this state
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// One change, shared by all watchers.
struct CacheEvent {
  Event::Type type;
  CachedEntryPtr object;    // for a deletion: the last state, at the revision of the deletion
  CachedEntryPtr previous;  // nullptr for a new object
  Revision revision = 0;
  SteadyTime time;
  std::size_t bytes = 0;

  /// Returns the event as a watcher with this filter sees it, or nullopt if the watcher does not see it.
  std::optional<Event> SeenBy(const Filter& filter) const;
};
using CacheEventPtr = std::shared_ptr<const CacheEvent>;

/// The newest state of a resource, its recent events, and the callers that wait for either. One feed (CacheFeed)
/// writes; any thread may read. No lock is held while a reader walks a snapshot.
class WatchCache {
 public:
  WatchCache(std::shared_ptr<const EntryRecipe> recipe, BackendOptions options)
      : recipe_(std::move(recipe)), options_(std::move(options)) {}

  const std::shared_ptr<const EntryRecipe>& Recipe() const { return recipe_; }
  const BackendOptions& Options() const { return options_; }

  // ---- readers
  /// Returns nullptr if the cache has not been filled yet.
  SnapshotPtr Current() const;
  /// Returns the state at an older revision while the window covers it, and nullptr otherwise. `revision` must not be
  /// newer than Current()'s.
  SnapshotPtr At(Revision revision) const;
  /// Waits until the cache has reached `revision`, and for the first fill. Returns false if that did not happen by
  /// `deadline`.
  Task<bool> WaitFor(Revision revision, SteadyTime deadline);
  void RequestProgress() const;
  bool Stopped() const;
  /// Returns whether the feed cannot convert the objects now. The cache then holds an older state; newer ones can be
  /// read from etcd only.
  bool Failing() const;
  /// A subset of a snapshot that contains every object which matches a filter.
  struct Candidates {
    const Tree* tree = nullptr;  // nullptr: no index applies, all objects have to be checked
    bool exact = false;          // the subset has no other objects, except those of other namespaces
  };
  /// Looks the filter up in the indexes. A term that is requested repeatedly gets an index; an index that is not used
  /// for a while is dropped.
  Candidates FindCandidates(const Snapshot& snapshot, const Filter& filter);

  // ---- own writes that the feed has not delivered yet
  void RecordOwnWrite(const CachedEntryPtr& written);
  /// Returns the object if the cache holds it at exactly this revision, else nullptr.
  CachedEntryPtr Known(const std::string& key, Revision revision) const;
  /// Returns the newest known state of a key: what this process wrote last, or the cached object. nullptr: unknown.
  CachedEntryPtr Newest(const std::string& key) const;

  // ---- watchers
  struct IdleWatcher {
    const Filter* filter;
    std::uint64_t next;
    std::shared_ptr<Wakeup> wakeup;  // nullptr: has been woken
  };
  using IdleWatcherHandle = std::list<IdleWatcher>::iterator;
  struct Pending {
    bool behind = false;    // the next events have left the window, or the cache was filled again
    bool restored = false;  // … because etcd was restored to an older state
    std::vector<CacheEventPtr> events;
    std::uint64_t next = 0;
    Revision revision = 0;           // the revision that is reached after all of `events`
    std::shared_ptr<Wakeup> wakeup;  // set: there are no events, and the watcher is registered as waiting
    IdleWatcherHandle handle;
  };
  /// Returns the sequence number of the first event after `revision`, or nullopt if that event has left the window.
  std::optional<std::uint64_t> SequenceAfter(Revision revision) const;
  /// Returns the oldest revision after which a watch can begin without reading etcd's history.
  Revision Floor() const;
  /// Returns about `max` events from `next` on, in complete revisions. If there are none, registers the watcher to be
  /// woken by an event that matches `filter`.
  Pending Take(std::uint64_t generation, std::uint64_t next, std::size_t max, const Filter& filter);
  /// Ends the registration. Returns the sequence number of the next event, which skips those that did not match.
  std::uint64_t EndWait(IdleWatcherHandle handle);
  std::uint64_t Generation() const;

  /// Returns the statistics that the cache maintains.
  ResourceStats Stats() const;

  // ---- the feed
  /// Replaces the contents. `restored`: etcd went back to an older state, so watchers must start again.
  void Fill(std::vector<CachedEntryPtr> sorted, Revision revision, bool restored = false);
  /// One put or deletion as etcd reported it. `entry` is nullptr for a deletion.
  struct Change {
    std::string key;
    CachedEntryPtr entry;
    Revision revision = 0;
  };
  void Apply(std::vector<Change> changes, Revision revision);
  /// Returns the entry that this process wrote at exactly this revision, so that it need not be decoded again.
  CachedEntryPtr OwnWrite(const std::string& key, Revision revision) const;
  void SetWatch(std::shared_ptr<etcd::Watch> watch);
  /// Reports that objects cannot be converted, until the next Fill(). All watches end, and readers do not wait.
  void SetFailing();
  void Stop();

 private:
  void ForgetOwnWrites();
  void Publish(SnapshotPtr snapshot, std::unique_lock<std::mutex>& lock);
  void TrimWindow();
  /// Publishes the same state with one more index, if it is still the newest state.
  void AddIndex(const Snapshot& snapshot, IndexedBy by);
  void UpdateIndexes(const Snapshot& before, Snapshot& after, const std::vector<CacheEventPtr>& events);

  const std::shared_ptr<const EntryRecipe> recipe_;
  const BackendOptions options_;

  struct Use {
    IndexedBy by;
    int times = 0;
    SteadyTime last;
  };
  std::mutex uses_mutex_;
  std::vector<Use> uses_;  // guarded by uses_mutex_

  mutable std::mutex snapshot_mutex_;
  SnapshotPtr snapshot_;  // guarded by snapshot_mutex_

  mutable std::mutex mutex_;  // guards everything below
  std::deque<CacheEventPtr> window_;
  std::uint64_t first_sequence_ = 0;  // of window_.front()
  Revision floor_ = 0;                // the window contains all events after this revision
  std::size_t window_bytes_ = 0;
  std::uint64_t generation_ = 0;  // number of fills
  std::uint64_t restored_ = 0;    // the last generation that began with a restore
  std::uint64_t slow_watchers_ = 0;
  std::list<IdleWatcher> idle_watchers_;
  std::multimap<Revision, std::shared_ptr<Wakeup>> waiters_;
  std::unordered_map<std::string, CachedEntryPtr> own_writes_;
  std::size_t own_writes_bytes_ = 0;
  std::shared_ptr<etcd::Watch> watch_;
  bool stopped_ = false;
  bool failing_ = false;
};

}  // namespace apimesh::storage
