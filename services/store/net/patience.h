#pragma once

#include <algorithm>
#include <chrono>

namespace apimesh::store {

/// Whether the loop should look for work again and again instead of going to sleep. A client that sends its next
/// request as soon as it has its answer waits longer for this thread to wake up than for the answer itself. So once
/// a few waits in a row were shorter than kLook, the loop looks for that long before it sleeps. That is for cores
/// that have nothing else to do: after a look in vain the loop sleeps until it has seen twice as many short waits
/// as it needed for that look, and if others take the core away while it looks, it sleeps for the next kMostWaits.
class Patience {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr Duration kLook = std::chrono::microseconds(100);
  static constexpr int kFewestWaits = 4;
  static constexpr int kMostWaits = 4096;
  static constexpr int kLooksACheck = 16;       // so often it asks whether others want this core
  static constexpr long kWantedByOthers = 4;    // switches to them meanwhile; a few happen on an idle machine, too

  bool ShouldLook() const { return short_waits_ >= needed_; }
  void Found() { needed_ = std::max(kFewestWaits, needed_ / 2); }
  void LookedInVain() {
    short_waits_ = 0;
    needed_ = std::min(needed_ * 2, kMostWaits);
  }
  /// Whether it is time to tell SwitchesToOthers().
  bool ShouldCheck() { return ++looks_ % kLooksACheck == 0; }
  void SwitchesToOthers(long number) {
    if (number < kWantedByOthers) return;
    short_waits_ = 0;
    needed_ = kMostWaits;
  }
  void Slept(Duration time) { short_waits_ = time < kLook ? short_waits_ + 1 : 0; }

 private:
  int short_waits_ = 0;
  int needed_ = kFewestWaits;
  unsigned looks_ = 0;
};

}  // namespace apimesh::store
