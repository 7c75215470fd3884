#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// Without the allocation of addresses and ports, which needs stores: see allocation.h.
registry::Resource ServiceResource();

}  // namespace apimesh::core_api
