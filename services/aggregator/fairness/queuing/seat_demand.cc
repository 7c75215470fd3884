#include "services/aggregator/fairness/queuing/seat_demand.h"

#include <algorithm>
#include <cmath>

namespace apimesh::aggregator {
namespace {
// With one period of 10 s, the weight of a period halves after 30 periods.
constexpr double kDecay = 0.977;
}  // namespace

void SeatDemand::Advance(SteadyTime now) {
  const double seconds = std::chrono::duration<double>(now - since_).count();
  since_ = now;
  seconds_ += seconds;
  sum_ += seats_ * seconds;
  squares_ += seats_ * seats_ * seconds;
}

void SeatDemand::Set(double seats, SteadyTime now) {
  Advance(now);
  seats_ = seats;
  highest_ = std::max(highest_, seats);
}

SeatDemand::Period SeatDemand::Take(SteadyTime now) {
  Advance(now);
  Period period{.highest = highest_};
  if (seconds_ > 0) {
    period.empty = false;
    period.average = sum_ / seconds_;
    period.deviation = std::sqrt(std::max(0.0, squares_ / seconds_ - period.average * period.average));
  }
  seconds_ = sum_ = squares_ = 0;
  highest_ = seats_;
  return period;
}

void SmoothedDemand::Update(const SeatDemand::Period& period) {
  high_watermark = static_cast<int>(std::lround(period.highest));
  if (period.empty) return;
  average = period.average;
  deviation = period.deviation;
  const double envelope = average + deviation;
  smoothed = std::max(envelope, kDecay * smoothed + (1 - kDecay) * envelope);
}

}  // namespace apimesh::aggregator
