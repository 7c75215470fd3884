#pragma once

#include <algorithm>

#include "lib/base/clock.h"

namespace apimesh {

/// A rate limit: `burst` events at once, and one more per `interval`. Not thread-safe.
class TokenBucket {
 public:
  constexpr TokenBucket(int burst, Duration interval) : interval_(interval), capacity_(burst * interval) {}

  /// Returns false if there are too many events; this event is then not counted.
  bool Take(SteadyTime now) {
    const SteadyTime empty_until = std::max(refilled_, now) + interval_;
    if (empty_until - now > capacity_) return false;
    refilled_ = empty_until;
    return true;
  }

 private:
  Duration interval_;
  Duration capacity_;
  SteadyTime refilled_;  // the time at which the bucket is full again
};

}  // namespace apimesh
