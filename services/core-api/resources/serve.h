#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/admission/chain.h"
#include "lib/endpoint/group_server.h"
#include "lib/registry/resource.h"
#include "lib/storage/backend.h"

namespace apimesh::core_api {

/// Opens a store for every resource that has objects and puts all into their group-versions, with the priorities of the
/// table. `opened` are stores that others needed before, by their prefix: namespaces for admission, addresses for services.
using OpenedStores = std::map<std::string, storage::StorePtr>;
std::vector<endpoint::ServedVersion> ServeAll(std::vector<registry::Resource> resources, storage::Backend& backend,
                                              const OpenedStores& opened, admission::ChainPtr admission);

}  // namespace apimesh::core_api
