#pragma once

#include <algorithm>
#include <chrono>

namespace apimesh::store {

/// Whether the loop should look for work again and again instead of going to sleep. A client that sends its next
/// request as soon as it has its answer waits longer for this thread to wake up than for the answer itself. So once
/// there were a few more waits shorter than kLook than longer ones, the loop looks for that long before it sleeps.
/// That is for cores that have nothing else to do: a look in vain doubles the number of short waits that it takes
/// to the next one, and if others take the core away while it looks, that number becomes kMostWaits at once.
class Patience {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr Duration kLook = std::chrono::microseconds(100);
  static constexpr int kFewestWaits = 4;
  static constexpr int kMostWaits = 1024;
  static constexpr int kLongWait = 8;           // short waits that one long wait outweighs
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
  void Slept(Duration time) {
    short_waits_ = time < kLook ? std::min(short_waits_ + 1, kMostWaits) : std::max(short_waits_ - kLongWait, 0);
  }

 private:
  int short_waits_ = 0;
  int needed_ = kFewestWaits;
  unsigned looks_ = 0;
};

}  // namespace apimesh::store
