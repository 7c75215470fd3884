#pragma once

#include <functional>
#include <vector>

#include "lib/admission/chain.h"
#include "lib/endpoint/group_server.h"
#include "lib/registry/resource.h"
#include "lib/storage/store.h"

namespace apimesh::core_api {

/// Returns the store of a resource, or nullptr if it stores nothing.
using FindStore = std::function<storage::StorePtr(const registry::Resource& resource)>;

/// Groups the resources by group and version, with the priorities of the table.
std::vector<endpoint::ServedVersion> ServeAll(std::vector<registry::Resource> resources, const FindStore& store,
                                              admission::ChainPtr admission);

}  // namespace apimesh::core_api
