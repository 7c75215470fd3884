#pragma once

#include <vector>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// The kinds of apps that have a folder of their own.
std::vector<registry::Resource> AppsGroup();

}  // namespace apimesh::core_api
