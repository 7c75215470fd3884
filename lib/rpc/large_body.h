#pragma once

#include <cstddef>

namespace apimesh::rpc {

/// A request with a larger body may wait and work for a while: its server moves it to a separate thread
/// (lib/endpoint/large_requests.h), and wants to know when the caller is gone. The same holds for large stored objects.
inline constexpr std::size_t kLargeBodyBytes = 64 * 1024;

}  // namespace apimesh::rpc
