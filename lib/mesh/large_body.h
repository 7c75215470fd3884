#pragma once

#include <cstddef>

namespace apimesh::mesh {

/// A request with a larger body may take long, so its server runs it on a separate thread
/// (lib/endpoint/write/large_requests.h). The same holds for large stored objects.
inline constexpr std::size_t kLargeBodyBytes = 64 * 1024;

}  // namespace apimesh::mesh
