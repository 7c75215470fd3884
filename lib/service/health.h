#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::service {

/// The checks behind /livez, /readyz and /healthz. Thread-safe.
class HealthChecks {
 public:
  /// Returns an empty string if the check passes, otherwise the problem, which is logged and shown at the path of the
  /// check. It runs for every request and must not block; the owner of the check updates the state in the background.
  using Check = std::function<std::string()>;
  enum Endpoint : unsigned { kLivez = 1, kReadyz = 2, kHealthz = 4, kEverywhere = 7 };

  /// Adds "ping" to all endpoints and "shutdown" to /readyz.
  HealthChecks();

  /// Checks are reported in the order in which they are added; "shutdown" is always last.
  void Add(std::string name, Check check, unsigned endpoints = kEverywhere);
  /// Until `end`, the checks of post-start hooks pass at /livez, so that a slow start does not look like a failure.
  void SetLivezGrace(const Clock& clock, SteadyTime end);
  /// Adds a check "poststarthook/NAME" that fails until the returned function is called.
  std::function<void()> AddPostStartHook(const std::string& name);
  /// Makes /readyz fail from now on.
  void BeginShutdown() { stopping_ = true; }

  /// Returns whether all checks of /readyz pass, apart from the one with the name `except`. Nothing is logged.
  bool Ready(std::string_view except) const;

  /// The response to /livez, /readyz, /healthz (with ?verbose and ?exclude=NAME) or to the path of one check, such as
  /// /readyz/ping; nullopt for other paths.
  std::optional<mesh::Response> Answer(std::string_view path, std::string_view query) const;

 private:
  struct Named {
    std::string name;
    Check check;
    unsigned endpoints;
    bool boot = false;  // of a post-start hook
  };
  std::vector<Named> For(unsigned endpoint) const;
  mesh::Response AnswerAll(std::string_view endpoint_name, unsigned endpoint, std::string_view query) const;

  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::vector<Named> checks_;     // guarded by mutex_
  const Clock* clock_ = nullptr;  // guarded by mutex_; nullptr: there is no grace period
  SteadyTime livez_grace_end_;    // guarded by mutex_
};

}  // namespace apimesh::service
