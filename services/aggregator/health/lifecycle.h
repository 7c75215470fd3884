#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>

namespace apimesh::aggregator {

/// Tracks whether the process is draining (new requests are rejected, running requests may finish, watches are ended),
/// and notifies the long-running requests when it starts. Thread-safe.
class Lifecycle {
 public:
  bool Draining() const { return draining_; }
  void BeginDrain();

  /// `end` runs once when draining begins (immediately if it has begun), from any thread. It does not run after the
  /// returned handle is destroyed.
  std::shared_ptr<void> OnDrain(std::function<void()> end);

 private:
  struct Registry {
    std::mutex mutex;
    std::list<std::function<void()>> callbacks;  // guarded by mutex
  };
  std::atomic<bool> draining_{false};
  std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
};

/// Whether the path is /healthz, /livez, /readyz or below one of them.
bool IsHealthPath(std::string_view path);

}  // namespace apimesh::aggregator
