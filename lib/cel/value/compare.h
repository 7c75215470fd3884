#pragma once

#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// Compares deeply and across number types: 1 == 1u == 1.0. Returns a bool, or an error for values that can't be
/// compared with anything.
Value Equal(const Value& a, const Value& b, Arena& arena);
/// Returns -1, 0 or 1 as an int, or an error if the values can't be ordered.
Value Compare(const Value& a, const Value& b);

}  // namespace apimesh::cel
