#pragma once

#include <vector>

#include "lib/admission/chain.h"
#include "lib/endpoint/group_server.h"
#include "lib/registry/resource.h"
#include "lib/storage/backend.h"

namespace apimesh::core_api {

/// Opens a store for every resource that has objects and puts all into their group-versions, with the priorities of the
/// table. `namespaces` is the store of namespaces, opened before because admission reads it.
std::vector<endpoint::ServedVersion> ServeAll(std::vector<registry::Resource> resources, storage::Backend& backend,
                                              storage::StorePtr namespaces, admission::ChainPtr admission);

}  // namespace apimesh::core_api
