#pragma once

#include <cmath>

#include "lib/cel/value/value.h"

namespace apimesh::cel {

constexpr double kTextCost = 0.1, kPatternCost = 0.25;
constexpr std::uint64_t kListCost = 10, kMapCost = 30, kStructCost = 40;

/// The size of a text, list or map, as size() computes it; 1 for other values.
std::uint64_t SizeOf(const Value& value);
/// The cost of reading that many characters.
inline std::uint64_t Traversal(std::uint64_t size, double factor = kTextCost) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(size) * factor));
}

}  // namespace apimesh::cel
