#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/storage/store.h"

namespace apimesh::storage {

/// Keeps a reader in sync with a store: delivers the current state, then every change. When the watch ends, it opens a
/// new one, until Stop().
class Follower {
 public:
  struct Callbacks {
    /// Called when a watch was opened. The events of the current state follow. An object of an earlier watch that is
    /// not among them was deleted in between.
    std::function<void()> opened;
    /// Receives the events in order, without errors. `initial_events_end` marks the end of the current state.
    std::function<Task<>(std::vector<Event> events)> events;
  };

  /// `name` is for the log.
  Follower(std::string name, StorePtr store) : name_(std::move(name)), store_(std::move(store)) {}

  /// Runs until Stop(). The callbacks run on the executor of this coroutine, one at a time, and are released at the
  /// end.
  static Task<> Run(std::shared_ptr<Follower> self, Callbacks callbacks);
  /// May be called from any thread. At most one call of `events` may follow.
  void Stop();
  bool Stopped();

 private:
  Task<meta::Result<>> FollowOnce(const Callbacks& callbacks);

  const std::string name_;
  const StorePtr store_;
  std::mutex mutex_;
  bool stopped_ = false;              // guarded by mutex_
  std::shared_ptr<Watcher> watcher_;  // guarded by mutex_; the current watch
};

}  // namespace apimesh::storage
