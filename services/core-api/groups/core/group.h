#pragma once

#include <vector>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// The kinds of the core group that have a folder of their own.
std::vector<registry::Resource> CoreGroup();

}  // namespace apimesh::core_api
