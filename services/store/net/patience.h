#pragma once

#include <algorithm>
#include <chrono>

namespace apimesh::store {

/// Whether the loop should look for work again and again instead of going to sleep. A client that sends its next
/// request as soon as it has its answer waits longer for this thread to wake up than for the answer itself. So once
/// a few waits in a row were shorter than kLook, the loop looks for that long before it sleeps. What that can cost
/// is bounded: after a look in vain the loop sleeps until it has seen twice as many short waits as it needed for
/// that look, up to kMostWaits.
class Patience {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr Duration kLook = std::chrono::microseconds(100);
  static constexpr int kFewestWaits = 4;
  static constexpr int kMostWaits = 4096;

  bool ShouldLook() const { return short_waits_ >= needed_; }
  void Found() { needed_ = std::max(kFewestWaits, needed_ / 2); }
  void LookedInVain() {
    short_waits_ = 0;
    needed_ = std::min(needed_ * 2, kMostWaits);
  }
  void Slept(Duration time) { short_waits_ = time < kLook ? short_waits_ + 1 : 0; }

 private:
  int short_waits_ = 0;
  int needed_ = kFewestWaits;
};

}  // namespace apimesh::store
