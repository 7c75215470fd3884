#pragma once

#include <string>

#include "lib/rpc/delegate.h"

namespace apimesh::aggregator {

/// What an APIService says of its group-version.
struct Registration {
  std::string group, version;
  int group_priority_minimum = 0, version_priority = 0;
};

/// The description of a server outside the mesh, made from its own APIResourceList. Empty `resource_list`: it can't be
/// reached, and discovery says that what is known of it may be old.
rpc::Description DescribeExternal(const Registration& registration, std::string resource_list, std::string openapi_hash);

/// The hash that an /openapi/v3 index gives for a group-version; empty if it has none.
std::string OpenApiHash(std::string_view index, const std::string& group, const std::string& version);

}  // namespace apimesh::aggregator
