#pragma once

#include <string_view>

namespace apimesh::mesh {

/// A header with which the edge marks a request in a namespace whose deletion it has answered recently, because caches
/// may not know of the deletion yet. Clients cannot send it.
inline constexpr std::string_view kDeletedNamespaceHeader = "x-apimesh-deleted-namespace";

}  // namespace apimesh::mesh
