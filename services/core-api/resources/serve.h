#pragma once

#include <vector>

#include "lib/admission/chain.h"
#include "lib/endpoint/group_server.h"
#include "lib/registry/resource.h"
#include "services/core-api/resources/resource_stores.h"

namespace apimesh::core_api {

/// Opens the store of every resource that is stored, and groups the resources by group and version, with the priorities
/// of the table.
std::vector<endpoint::ServedVersion> ServeAll(std::vector<registry::Resource> resources, ResourceStores& stores,
                                              admission::ChainPtr admission);

}  // namespace apimesh::core_api
