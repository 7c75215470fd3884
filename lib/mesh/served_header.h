#pragma once

#include <string_view>

namespace apimesh::mesh {

/// A response header, which may be repeated: "group/version/resource", a resource that the server has begun to serve
/// because of this request. The edge sends the response when its discovery lists the resource, or after a second.
/// Clients do not receive the header.
inline constexpr std::string_view kServedResourceHeader = "x-apimesh-served-resource";

}  // namespace apimesh::mesh
