#pragma once

#include <vector>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// The kinds of discovery.k8s.io with behaviour of their own.
std::vector<registry::Resource> DiscoveryGroup();

}  // namespace apimesh::core_api
