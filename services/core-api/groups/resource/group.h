#pragma once

#include <vector>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// The kinds of resource.k8s.io that have behaviour of their own.
std::vector<registry::Resource> ResourceGroup();

}  // namespace apimesh::core_api
