#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/rpc/delegate.h"

namespace apimesh::service {

/// The checks behind /livez, /readyz and /healthz. Thread-safe.
class HealthChecks {
 public:
  /// Empty: fine. Otherwise what is wrong, for the log and for those who ask for this check by its path.
  /// Runs for every question, so it must not wait: a loop of its owner keeps the state.
  using Check = std::function<std::string()>;
  enum Endpoint : unsigned { kLivez = 1, kReadyz = 2, kHealthz = 4, kEverywhere = 7 };

  /// With "ping" everywhere and "shutdown" on /readyz.
  HealthChecks();

  /// Checks are shown in the order they are added; "shutdown" stays last.
  void Add(std::string name, Check check, unsigned endpoints = kEverywhere);
  /// A check "poststarthook/NAME" that fails until the returned function is called.
  std::function<void()> AddPostStartHook(const std::string& name);
  /// /readyz fails from now on.
  void BeginShutdown() { stopping_ = true; }

  /// The answer to /livez, /readyz, /healthz (with ?verbose and ?exclude=NAME) or to the path of one check, such as
  /// /readyz/ping; nullopt: not a path of this kind.
  std::optional<rpc::Response> Answer(std::string_view path, std::string_view query) const;

 private:
  struct Named {
    std::string name;
    Check check;
    unsigned endpoints;
  };
  std::vector<Named> For(unsigned endpoint) const;
  rpc::Response AnswerAll(std::string_view endpoint_name, unsigned endpoint, std::string_view query) const;

  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::vector<Named> checks_;  // guarded by mutex_
};

}  // namespace apimesh::service
