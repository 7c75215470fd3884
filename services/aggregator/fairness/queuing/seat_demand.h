#pragma once

#include "lib/base/clock.h"

namespace apimesh::aggregator {

/// The number of seats that a priority level needed over time. Not thread-safe.
class SeatDemand {
 public:
  /// The demand since the last Take().
  struct Period {
    double average = 0;
    double deviation = 0;
    double highest = 0;
    bool empty = true;  // no time has passed
  };

  explicit SeatDemand(SteadyTime now) : since_(now) {}

  void Set(double seats, SteadyTime now);
  /// Returns the statistics of the period that ends now, and begins the next one.
  Period Take(SteadyTime now);

 private:
  void Advance(SteadyTime now);

  SteadyTime since_;
  double seats_ = 0;
  double highest_ = 0;
  // Integrals of 1, seats and seats² over the time of the period.
  double seconds_ = 0, sum_ = 0, squares_ = 0;
};

/// What a level needed recently, from which its limit is derived.
struct SmoothedDemand {
  double average = 0, deviation = 0, smoothed = 0;
  int high_watermark = 0;

  /// The smoothed demand follows an increase at once and a decrease with a half-life of 5 minutes.
  void Update(const SeatDemand::Period& period);
};

}  // namespace apimesh::aggregator
