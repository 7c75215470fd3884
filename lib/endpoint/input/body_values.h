#pragma once

#include <cstddef>
#include <string_view>

#include "lib/codec/codec.h"

namespace apimesh::endpoint {

/// The number of values in a JSON body above which it is refused with 413: each value costs up to a microsecond and
/// several hundred bytes. The store refuses objects above 1.5 MB, so only lists of numbers and empty texts of that size
/// have as many.
inline constexpr std::size_t kMaxBodyValues = 300'000;
/// YAML is limited by nodes, which are values and keys.
inline constexpr std::size_t kMaxBodyNodes = 2 * kMaxBodyValues;

/// Returns the limits with which the body of a request is parsed.
codec::ParseLimits BodyLimits();

/// Returns 413 if the body is JSON with more values. It counts them before they are parsed, and looks only at bodies
/// that are large enough. Text that is not JSON is counted as if it were.
meta::Result<> CheckBodyValues(std::string_view body);

}  // namespace apimesh::endpoint
