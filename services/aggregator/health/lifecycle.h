#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>

namespace apimesh::aggregator {

/// Whether the process is being drained (new requests are sent away, those that run may finish, watches are ended), and
/// the long-running requests that must be told. Thread-safe.
class Lifecycle {
 public:
  bool Draining() const { return draining_; }
  void BeginDrain();

  /// `end` runs once when draining begins (at once if it has), from any thread. Forgotten when the handle dies; after
  /// that it does not run any more.
  std::shared_ptr<void> OnDrain(std::function<void()> end);

 private:
  struct Registry {
    std::mutex mutex;
    std::list<std::function<void()>> callbacks;  // guarded by mutex
  };
  std::atomic<bool> draining_{false};
  std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
};

/// /healthz, /livez, /readyz and what is below them.
bool IsHealthPath(std::string_view path);

}  // namespace apimesh::aggregator
