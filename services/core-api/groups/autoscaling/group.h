#pragma once

#include <vector>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// The kinds of autoscaling that have behaviour of their own.
std::vector<registry::Resource> AutoscalingGroup();

}  // namespace apimesh::core_api
