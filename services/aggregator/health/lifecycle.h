#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"

namespace apimesh::aggregator {

/// Tracks whether the process is draining (new requests are rejected, running requests may finish, watches are ended),
/// and notifies the long-running requests when it starts. Thread-safe.
class Lifecycle {
 public:
  bool Draining() const { return draining_; }
  /// From now on, OnDrain() ends requests immediately. EndSome() or EndOver() end those that are running.
  void BeginDrain() { draining_ = true; }
  /// Ends at most `most` of the running requests, and returns how many are left.
  std::size_t EndSome(std::size_t most);
  /// Ends all running requests, evenly over a duration.
  static Task<> EndOver(std::shared_ptr<Lifecycle> self, Duration duration, const Clock& clock);

  /// `end` runs once while the process drains (immediately if it is draining), from any thread. It does not run after
  /// the returned handle is destroyed.
  std::shared_ptr<void> OnDrain(std::function<void()> end);

 private:
  struct Registry {
    std::mutex mutex;
    std::list<std::function<void()>> callbacks;  // nullptr: has run. Guarded by mutex
  };
  std::atomic<bool> draining_{false};
  std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
};

/// Whether the path is /healthz, /livez, /readyz or below one of them.
bool IsHealthPath(std::string_view path);

}  // namespace apimesh::aggregator
