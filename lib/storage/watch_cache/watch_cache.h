#pragma once

#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "lib/base/wakeup.h"
#include "lib/etcd/client.h"
#include "lib/storage/backend.h"
#include "lib/storage/filter.h"
#include "lib/storage/watch_cache/index.h"
#include "lib/storage/watch_cache/tree.h"

namespace apimesh::storage {

/// All objects of a resource at one revision.
struct Snapshot {
  Tree tree;
  Revision revision = 0;
  std::uint64_t sequence = 0;  // of the first event that is not in it
  std::size_t unreadable = 0;  // objects that can't be read: no list shows them
  std::size_t bytes = 0;       // of the objects' JSON; kept for the newest state only
  std::vector<std::shared_ptr<const Index>> indexes;  // of this very state
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// One change, shared by all watchers.
struct CacheEvent {
  Event::Type type;
  CachedEntryPtr object;    // of a deletion: the last state, at the deletion's revision
  CachedEntryPtr previous;  // nullptr for a new object
  Revision revision = 0;
  SteadyTime time;
  std::size_t bytes = 0;

  /// The event as someone with this filter sees it; nullopt: not at all.
  std::optional<Event> SeenBy(const Filter& filter) const;
};
using CacheEventPtr = std::shared_ptr<const CacheEvent>;

/// The newest state of a resource, its recent events, and those who wait for either. Written by one feed (CacheFeed),
/// read from any thread: no lock is held while a reader walks.
class WatchCache {
 public:
  WatchCache(std::shared_ptr<const EntryRecipe> recipe, BackendOptions options)
      : recipe_(std::move(recipe)), options_(std::move(options)) {}

  const std::shared_ptr<const EntryRecipe>& Recipe() const { return recipe_; }
  const BackendOptions& Options() const { return options_; }

  // ---- readers
  /// nullptr: not filled yet.
  SnapshotPtr Current() const;
  /// The state at an older revision, while the window has it; nullptr otherwise. `revision` is at most Current()'s.
  SnapshotPtr At(Revision revision) const;
  /// False: not by `deadline`. Also waits for the first fill.
  Task<bool> WaitFor(Revision revision, SteadyTime deadline);
  void RequestProgress() const;
  bool Stopped() const;
  /// A part of a snapshot that holds all that match a filter.
  struct Narrowed {
    const Tree* tree = nullptr;  // nullptr: there is none, look at everything
    bool exact = false;          // nothing else is in it, but for other namespaces
  };
  /// By an index. What is asked for again and again gets one; one that is not used for a while is dropped.
  Narrowed Narrow(const Snapshot& snapshot, const Filter& filter);

  // ---- own writes that the feed has not delivered yet
  void Remember(const CachedEntryPtr& written);
  /// The newest state known of a key: what this process wrote last, or the cached object. nullptr: not known.
  CachedEntryPtr Newest(const std::string& key) const;

  // ---- watchers
  struct Sleeper {
    const Filter* filter;
    std::uint64_t next;
    std::shared_ptr<Wakeup> wakeup;  // nullptr: has been woken
  };
  using SleeperHandle = std::list<Sleeper>::iterator;
  struct Pending {
    bool behind = false;    // what comes next has left the window, or the cache was filled anew
    bool restored = false;  // … because etcd went back to an older state
    std::vector<CacheEventPtr> events;
    std::uint64_t next = 0;
    Revision revision = 0;                 // reached when all of `events` are taken
    std::shared_ptr<Wakeup> wakeup;        // set: nothing there, the watcher is registered as a sleeper
    SleeperHandle handle;
  };
  /// The sequence number of the first event after `revision`; nullopt: that has left the window.
  std::optional<std::uint64_t> SequenceAfter(Revision revision) const;
  /// The oldest revision that a watch can begin after without etcd's own history.
  Revision Floor() const;
  /// The events from `next` on, about `max` of them, in whole revisions; if there are none, registers `filter` to be woken by one that matches.
  Pending Take(std::uint64_t generation, std::uint64_t next, std::size_t max, const Filter& filter);
  /// Ends the sleep; the number of the next event, moved on past those that did not match.
  std::uint64_t Leave(SleeperHandle handle);
  std::uint64_t Generation() const;
  Revision WindowFloor() const;

  /// What of a store's figures the cache knows.
  ResourceStats Stats() const;

  // ---- the feed
  /// `restored`: etcd went back in time; those who watch must start anew.
  void Fill(std::vector<CachedEntryPtr> sorted, Revision revision, bool restored = false);
  /// One put or deletion as etcd told it. `entry` is nullptr for a deletion.
  struct Change {
    std::string key;
    CachedEntryPtr entry;
    Revision revision = 0;
  };
  void Apply(std::vector<Change> changes, Revision revision);
  /// An entry this process wrote at just this revision, so that it need not be made again.
  CachedEntryPtr Remembered(const std::string& key, Revision revision) const;
  void SetWatch(std::shared_ptr<etcd::Watch> watch);
  void Stop();

 private:
  void ForgetOwnWrites();
  void Publish(SnapshotPtr snapshot, std::unique_lock<std::mutex>& lock);
  void TrimWindow();
  /// The same state with one more index, if it is still the newest.
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

  mutable std::mutex mutex_;  // guards all below
  std::deque<CacheEventPtr> window_;
  std::uint64_t first_sequence_ = 0;  // of window_.front()
  Revision floor_ = 0;                // all events after this revision are in the window
  std::size_t window_bytes_ = 0;
  std::uint64_t generation_ = 0;  // counts fills
  std::uint64_t restored_ = 0;    // the last generation that began with a restore
  std::uint64_t slow_watchers_ = 0;
  std::list<Sleeper> sleepers_;
  std::multimap<Revision, std::shared_ptr<Wakeup>> waiters_;
  std::unordered_map<std::string, CachedEntryPtr> own_writes_;
  std::size_t own_writes_bytes_ = 0;
  std::shared_ptr<etcd::Watch> watch_;
  bool stopped_ = false;
};

}  // namespace apimesh::storage
