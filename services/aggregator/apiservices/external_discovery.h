#pragma once

#include <string>

#include "lib/mesh/delegate/delegate.h"

namespace apimesh::aggregator {

/// The fields of an APIService that describe its group-version.
struct Registration {
  std::string group, version;
  int group_priority_minimum = 0, version_priority = 0;
};

/// Builds the description of a server outside the mesh from its APIResourceList. An empty `resource_list` means that
/// the server is unreachable; discovery then reports the group-version as "Stale".
mesh::Description DescribeExternal(const Registration& registration, std::string resource_list,
                                   std::string openapi_hash);

/// Returns the hash of a group-version from an /openapi/v3 index, or "" if the index does not list it.
std::string OpenApiHash(std::string_view index, const std::string& group, const std::string& version);

}  // namespace apimesh::aggregator
