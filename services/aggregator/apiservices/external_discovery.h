#pragma once

#include <optional>
#include <string>

#include "lib/mesh/delegate/delegate.h"

namespace apimesh::aggregator {

/// The fields of an APIService that describe its group-version.
struct Registration {
  std::string group, version;
  int group_priority_minimum = 0, version_priority = 0;
};

/// Builds the description of a server outside the mesh from its APIResourceList. An empty `resource_list` means that
/// the server is unreachable; discovery then reports the group-version as "Stale". `openapi_hash` is that of the
/// document that is served for it; "": there is none.
mesh::Description DescribeExternal(const Registration& registration, std::string resource_list,
                                   std::string openapi_hash);

/// Returns the hash of a group-version from an /openapi/v3 index. "": it has none, or one that cannot be part of a URL.
/// nullopt: the index does not list the group-version.
std::optional<std::string> OpenApiHash(std::string_view index, const std::string& group, const std::string& version);

}  // namespace apimesh::aggregator
