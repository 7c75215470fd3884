#pragma once

#include <deque>
#include <mutex>

#include "lib/base/clock.h"

namespace apimesh::aggregator {

/// The value of the Retry-After header of rejected requests. It doubles while many requests are rejected and decreases
/// when fewer are. Thread-safe.
class RetryAfter {
 public:
  static constexpr int kMaxSeconds = 32;

  /// Records a rejected request, and returns after how many seconds its client should try again.
  int Reject(SteadyTime now);

 private:
  struct Second {
    std::int64_t time;
    int rejected;
  };
  std::mutex mutex_;
  std::deque<Second> history_;  // guarded by mutex_, as all below; the last entry is the current second
  int seconds_ = 1;
  std::int64_t doubled_ = 0;  // the time of the last increase
};

}  // namespace apimesh::aggregator
