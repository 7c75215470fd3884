#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>

namespace apimesh::aggregator {

/// Where the process is between start and end, and the long-running requests that must be told to end. Thread-safe.
class Lifecycle {
 public:
  enum class Phase {
    kServing,
    kNotReady,  // /readyz is bad so that load balancers look away; requests are still served
    kDraining,  // new requests are sent away, those that run may finish, watches are ended
  };
  Phase Now() const { return phase_; }
  void Advance(Phase phase);

  /// `end` runs once when draining begins (at once if it has), from any thread. Forgotten when the handle dies; after
  /// that it does not run any more.
  std::shared_ptr<void> OnDrain(std::function<void()> end);

 private:
  struct Registry {
    std::mutex mutex;
    std::list<std::function<void()>> callbacks;  // guarded by mutex
  };
  std::atomic<Phase> phase_{Phase::kServing};
  std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
};

/// /healthz, /livez, /readyz and what is below them.
bool IsHealthPath(std::string_view path);

}  // namespace apimesh::aggregator
