#pragma once

#include <atomic>
#include <thread>

#include "lib/base/clock.h"

/// The real time, for tests that wait for timers, sockets, threads or other processes. All other tests use ManualClock.
namespace apimesh::testing {

inline const Clock& SystemClock() { return Clock::System(); }

/// Returns the time that is `duration` from now.
inline SteadyTime In(Duration duration) { return SystemClock().Steady() + duration; }

/// The time of the system, plus the durations that a test adds with Advance(). With it, a test of a running server does
/// not wait until a lease expires or a file is read again.
class ShiftedClock final : public Clock {
 public:
  WallTime Now() const override { return SystemClock().Now() + Shift(); }
  SteadyTime Steady() const override { return SystemClock().Steady() + Shift(); }
  void Advance(std::chrono::milliseconds by) { shift_ += by.count(); }

 private:
  std::chrono::milliseconds Shift() const { return std::chrono::milliseconds(shift_.load()); }
  std::atomic<std::int64_t> shift_{0};
};

/// Waits until `condition` holds, which another thread or process has to bring about. Returns false if it does not hold
/// after `limit`.
template <class Condition>
bool Eventually(const Condition& condition, Duration limit = std::chrono::seconds(30)) {
  const SteadyTime end = In(limit);
  while (!condition()) {
    if (SystemClock().Steady() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace apimesh::testing
