#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"

namespace apimesh::http {

/// Limits the memory that request bodies use in a process. One owner (a user) gets at most a quarter of it, so that a
/// single user cannot exhaust it. Thread-safe.
class BodyBudget {
 public:
  /// Smaller bodies are not counted; the limit of connections limits their number.
  static constexpr std::size_t kFreeBytes = 32 << 10;

  explicit BodyBudget(std::size_t bytes) : bytes_(bytes) {}

  /// If nothing is taken, a body of any size gets its memory.
  bool TryTake(std::string_view owner, std::size_t bytes);
  void Return(std::string_view owner, std::size_t bytes);
  std::size_t Taken() const;

 private:
  const std::size_t bytes_;
  mutable std::mutex mutex_;
  std::size_t taken_ = 0;                                  // guarded by mutex_
  std::unordered_map<std::string, std::size_t> by_owner_;  // guarded by mutex_; only owners that have taken memory
};

/// The memory of one body; the destructor returns it to the budget.
class BodyLease {
 public:
  BodyLease() = default;
  ~BodyLease() { Shrink(0); }
  BodyLease(const BodyLease&) = delete;
  BodyLease& operator=(const BodyLease&) = delete;

  /// Takes the memory for a body of `bytes`, and waits up to one second for it. Returns false if there is none. Must be
  /// called at most once per lease.
  Task<bool> Take(std::shared_ptr<BodyBudget> budget, std::string owner, std::size_t bytes, const Clock& clock);
  /// Returns the memory above `bytes`, the actual size of the body.
  void Shrink(std::size_t bytes);

 private:
  std::shared_ptr<BodyBudget> budget_;
  std::string owner_;
  std::size_t bytes_ = 0;
};

}  // namespace apimesh::http
