#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lib/cel/types/type.h"

namespace apimesh::cel {

struct Ast;

/// A range of sizes or costs. Sums and products stop at the largest number.
struct CostRange {
  std::uint64_t min = 0, max = 0;

  static CostRange Fixed(std::uint64_t value) { return {value, value}; }
  static CostRange Unknown() { return {0, UINT64_MAX}; }
  CostRange operator+(const CostRange& other) const;
  CostRange operator*(const CostRange& other) const;
  /// Rounded up.
  CostRange Times(double factor) const;
  /// The smallest range that contains both.
  CostRange Union(const CostRange& other) const;
};
using SizeRange = CostRange;

/// Knows how large the values of variables can be.
class SizeEstimator {
 public:
  virtual ~SizeEstimator() = default;
  /// `path`: a variable and the fields that lead to a value; "@items", "@keys" and "@values" stand for the elements of
  /// lists and maps.
  virtual std::optional<SizeRange> EstimateSize(std::span<const std::string> path, const Type& type) const = 0;
};

/// The least and the greatest cost of an expression. `sizes` may be null.
CostRange EstimateCost(const Ast& ast, const SizeEstimator* sizes);

}  // namespace apimesh::cel
