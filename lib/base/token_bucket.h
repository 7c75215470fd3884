#pragma once

#include <algorithm>

#include "lib/base/clock.h"

namespace apimesh {

/// Limits a rate: `burst` events at once, and one more per `interval`. Not thread-safe.
class TokenBucket {
 public:
  constexpr TokenBucket(int burst, Duration interval) : interval_(interval), capacity_(burst * interval) {}

  /// False: there are too many events, and this one does not count.
  bool Take(SteadyTime now) {
    const SteadyTime empty_until = std::max(refilled_, now) + interval_;
    if (empty_until - now > capacity_) return false;
    refilled_ = empty_until;
    return true;
  }

 private:
  Duration interval_;
  Duration capacity_;
  SteadyTime refilled_;  // when all events so far will have been made up for
};

}  // namespace apimesh
