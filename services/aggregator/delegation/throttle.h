#pragma once

#include <cstdint>

#include "lib/base/async/wakeup.h"
#include "lib/base/clock.h"

namespace apimesh::aggregator {

/// Limits the rate of one direction of a connection, by waiting before each piece of data.
class Throttle {
 public:
  /// 0: no limit.
  Throttle(std::int64_t bytes_per_second, const Clock& clock)
      : bytes_per_second_(bytes_per_second), clock_(clock), free_at_(clock.Steady()) {}

  /// Returns when `bytes` may be sent.
  Task<> Pass(std::size_t bytes) {
    if (bytes_per_second_ <= 0) co_return;
    const SteadyTime now = clock_.Steady();
    const std::chrono::duration<double> cost(static_cast<double>(bytes) / static_cast<double>(bytes_per_second_));
    const Duration wait = free_at_ - now;
    free_at_ = std::max(free_at_, now) + std::chrono::duration_cast<Duration>(cost);
    if (wait.count() > 0) co_await SleepFor(wait);
  }

 private:
  const std::int64_t bytes_per_second_;
  const Clock& clock_;
  SteadyTime free_at_;
};

}  // namespace apimesh::aggregator
