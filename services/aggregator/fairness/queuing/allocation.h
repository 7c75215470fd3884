#pragma once

#include <optional>
#include <span>
#include <vector>

namespace apimesh::aggregator {

/// The limits and the need of one priority level, in seats.
struct AllocationClass {
  double lower = 0;  // at most `target` and `upper`
  double upper = 0;
  double target = 0;  // what it needs
};

struct Allocation {
  std::vector<double> seats;   // one per class
  double fair_proportion = 0;  // seats / target of the classes that no limit applies to
};

/// Divides `total` seats so that every class gets the same proportion of its target, except where that is outside of
/// its limits. Returns nullopt if the limits do not allow the total.
std::optional<Allocation> Allocate(double total, std::span<const AllocationClass> classes);

}  // namespace apimesh::aggregator
