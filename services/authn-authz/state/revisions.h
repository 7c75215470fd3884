#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/base/clock.h"

namespace apimesh::authn_authz {

/// Numbers the states on which answers are based. An answer carries the revision that was read before it was computed,
/// so a cache can tell whether a later invalidation affects it. Revisions start from the clock, so that they never
/// decrease after a restart. Thread-safe.
class Revisions {
 public:
  struct Change {
    std::int64_t revision = 0;
    bool authentication = false;
    bool authorization = false;
  };
  explicit Revisions(const Clock& clock);

  std::int64_t Current() const { return current_.load(); }
  /// Must be called after the state has changed. First runs every BeforeBump() callback, then increments the revision,
  /// then notifies the listeners.
  void Bump(bool authentication, bool authorization);

  /// `forget` clears caches of this process. Must be called at start, before the first Bump().
  void BeforeBump(std::function<void(const Change&)> forget);
  /// Subscribes until the returned handle is destroyed. The listener must not block.
  std::shared_ptr<void> Subscribe(std::function<void(const Change&)> listener);

 private:
  struct Listeners;
  std::atomic<std::int64_t> current_;
  std::mutex mutex_;
  std::vector<std::function<void(const Change&)>> before_;  // guarded by mutex_
  std::shared_ptr<Listeners> listeners_;
};

}  // namespace apimesh::authn_authz
