#pragma once

#include <cstddef>
#include <string_view>

namespace apimesh::gzip {

/// Answers shorter than this are sent as they are.
inline constexpr std::size_t kWorthCompressing = 128 << 10;

/// Whether an Accept-Encoding header allows gzip.
bool Accepts(std::string_view accept_encoding);

}  // namespace apimesh::gzip
