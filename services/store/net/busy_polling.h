#pragma once

#include <algorithm>
#include <chrono>

namespace apimesh::store {

/// Decides whether the event loop polls for a short time (busy polling) before it sleeps. For a client that sends its
/// next request as soon as it has received a response, the wake-up of this thread takes longer than the request.
/// Therefore the loop polls for kPollTime if enough recent waits were shorter than kPollTime.
/// Polling is useful only on a core that is otherwise idle. Each poll without a result doubles the number of short
/// waits that are required for the next one. If other threads preempt this thread while it polls, the required number
/// becomes kMostWaits immediately.
class BusyPolling {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr Duration kPollTime = std::chrono::microseconds(100);
  static constexpr int kFewestWaits = 4;
  static constexpr int kMostWaits = 1024;
  static constexpr int kLongWait = 8;        // number of short waits that one long wait cancels
  static constexpr int kPollsPerCheck = 16;  // polls between two checks for preemption
  static constexpr long kWantedByOthers =
      4;  // context switches between two checks; a few also occur on an idle machine

  bool ShouldPoll() const { return short_waits_ >= needed_; }
  void Found() { needed_ = std::max(kFewestWaits, needed_ / 2); }
  void PolledInVain() {
    short_waits_ = 0;
    needed_ = std::min(needed_ * 2, kMostWaits);
  }
  /// Whether the caller should report the number of context switches with SwitchesToOthers().
  bool ShouldCheck() { return ++polls_ % kPollsPerCheck == 0; }
  void SwitchesToOthers(long number) {
    if (number < kWantedByOthers) return;
    short_waits_ = 0;
    needed_ = kMostWaits;
  }
  void Slept(Duration time) {
    short_waits_ = time < kPollTime ? std::min(short_waits_ + 1, kMostWaits) : std::max(short_waits_ - kLongWait, 0);
  }

 private:
  int short_waits_ = 0;
  int needed_ = kFewestWaits;
  unsigned polls_ = 0;
};

}  // namespace apimesh::store
