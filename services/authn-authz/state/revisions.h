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

/// Numbers the states that answers rest on. An answer carries the number read before it was worked out, so whoever keeps
/// it knows whether a later invalidation concerns it. Starts from the clock: a restart never counts backwards. Thread-safe.
class Revisions {
 public:
  struct Change {
    std::int64_t revision = 0;
    bool authentication = false;
    bool authorization = false;
  };
  explicit Revisions(const Clock& clock);

  std::int64_t Current() const { return current_.load(); }
  /// Called after the state has changed. First every `before` hook runs, then the number goes up, then listeners hear it.
  void Bump(bool authentication, bool authorization);

  /// `forget` drops what this process itself has kept. Registered at start, before the first Bump().
  void BeforeBump(std::function<void(const Change&)> forget);
  /// Until the handle is destroyed. The listener must not block.
  std::shared_ptr<void> Subscribe(std::function<void(const Change&)> listener);

 private:
  struct Listeners;
  std::atomic<std::int64_t> current_;
  std::mutex mutex_;
  std::vector<std::function<void(const Change&)>> before_;  // guarded by mutex_
  std::shared_ptr<Listeners> listeners_;
};

}  // namespace apimesh::authn_authz
