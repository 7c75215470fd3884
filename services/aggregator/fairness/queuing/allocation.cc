#include "services/aggregator/fairness/queuing/allocation.h"

#include <algorithm>
#include <cmath>

namespace apimesh::aggregator {
namespace {

constexpr double kLeastTarget = 0.001;  // a class without a need still has a proportion
constexpr double kTolerance = 1e-7;     // of sums

double SeatsOf(const AllocationClass& one, double proportion) {
  return std::clamp(proportion * std::max(one.target, kLeastTarget), one.lower, one.upper);
}

double Sum(std::span<const AllocationClass> classes, double proportion) {
  double sum = 0;
  for (const AllocationClass& one : classes) sum += SeatsOf(one, proportion);
  return sum;
}

}  // namespace

std::optional<Allocation> Allocate(double total, std::span<const AllocationClass> classes) {
  // The sum of all seats grows with the proportion, linearly between the points at which a class reaches one of its
  // limits. The solution is in the interval between two neighbouring points whose sums enclose the total.
  std::vector<double> points;
  for (const AllocationClass& one : classes) {
    if (one.lower < 0 || one.upper < one.lower || one.target < one.lower) return std::nullopt;
    points.push_back(one.lower / std::max(one.target, kLeastTarget));
    points.push_back(one.upper / std::max(one.target, kLeastTarget));
  }
  if (points.empty()) return std::nullopt;
  std::sort(points.begin(), points.end());
  if (Sum(classes, points.front()) > total + kTolerance || Sum(classes, points.back()) < total - kTolerance)
    return std::nullopt;
  const auto above = std::partition_point(points.begin(), points.end(),
                                          [&](double point) { return Sum(classes, point) < total - kTolerance; });
  Allocation allocation;
  allocation.fair_proportion = *above;
  if (above != points.begin()) {
    const double below = *(above - 1), low = Sum(classes, below), high = Sum(classes, *above);
    if (high > low) allocation.fair_proportion = below + (*above - below) * std::min(1.0, (total - low) / (high - low));
  }
  for (const AllocationClass& one : classes) allocation.seats.push_back(SeatsOf(one, allocation.fair_proportion));
  return allocation;
}

}  // namespace apimesh::aggregator
