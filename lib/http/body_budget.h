#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lib/base/clock.h"
#include "lib/base/task.h"

namespace apimesh::http {

/// Limits the memory that request bodies take in a process. One owner (a user) gets at most a quarter of it, so that no
/// one can use it up for all others. Thread-safe.
class BodyBudget {
 public:
  /// Smaller bodies are not counted: their number is limited by that of the connections.
  static constexpr std::size_t kFreeBytes = 32 << 10;

  explicit BodyBudget(std::size_t bytes) : bytes_(bytes) {}

  /// A body always gets its memory while nothing is taken, whatever its size.
  bool TryTake(std::string_view owner, std::size_t bytes);
  void Return(std::string_view owner, std::size_t bytes);
  std::size_t Taken() const;

 private:
  const std::size_t bytes_;
  mutable std::mutex mutex_;
  std::size_t taken_ = 0;                                  // guarded by mutex_
  std::unordered_map<std::string, std::size_t> by_owner_;  // guarded by mutex_; owners that have taken something
};

/// The memory of one body; returned to the budget by the destructor.
class BodyLease {
 public:
  BodyLease() = default;
  ~BodyLease() { Shrink(0); }
  BodyLease(const BodyLease&) = delete;
  BodyLease& operator=(const BodyLease&) = delete;

  /// Takes the memory for a body of `bytes`, or waits a second for it. False: there is none. Once per lease.
  Task<bool> Take(std::shared_ptr<BodyBudget> budget, std::string owner, std::size_t bytes);
  /// The body turned out to be of this size.
  void Shrink(std::size_t bytes);

 private:
  std::shared_ptr<BodyBudget> budget_;
  std::string owner_;
  std::size_t bytes_ = 0;
};

}  // namespace apimesh::http
