#pragma once

#include <cstddef>
#include <string_view>

namespace apimesh::gzip {

/// Shorter responses are sent without compression.
inline constexpr std::size_t kWorthCompressing = 128 << 10;

/// Returns whether an Accept-Encoding header allows gzip.
bool Accepts(std::string_view accept_encoding);

}  // namespace apimesh::gzip
