#pragma once

#include <cstddef>
#include <string_view>

#include "lib/codec/protobuf/protobuf_limits.h"

namespace apimesh::endpoint {

/// The number of values in a body above which it is refused with 413: each value costs up to a microsecond and several
/// hundred bytes. The store refuses objects above 1.5 MB, so only lists of numbers and empty texts of that size have as
/// many.
inline constexpr std::size_t kMaxBodyValues = 300'000;
/// The number of values that may have a key, which cost more: an object with many keys is a hash table, keys are
/// sorted, and each is a path in managedFields. An object of 1.5 MB has fewer, unless its keys and values together have
/// less than 10 bytes.
inline constexpr std::size_t kMaxBodyKeys = 100'000;
/// YAML is limited by nodes, which are values and keys; a key counts as three nodes.
inline constexpr std::size_t kMaxBodyNodes = 4 * kMaxBodyKeys;

inline constexpr codec::ProtobufLimits kProtobufLimits{kMaxBodyValues, kMaxBodyKeys};

/// Returns the limits with which the body of a request is parsed.
codec::ParseLimits BodyLimits();

/// Returns 413 if the body is JSON with more values or keys. It counts them before they are parsed, and looks only at
/// bodies that are large enough. Text that is not JSON is counted as if it were.
meta::Result<> CheckBodyValues(std::string_view body);

}  // namespace apimesh::endpoint
