#pragma once

#include <string>
#include <vector>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// Every resource this server has: those with a folder as their folders describe them, all others from the table and their
/// schema. `groups`: only these ("" is the core group); none given: all.
std::vector<registry::Resource> AllResources(const std::vector<std::string>& groups);

}  // namespace apimesh::core_api
