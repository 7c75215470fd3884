#pragma once

#include <string>
#include <vector>

#include "lib/meta/gvk.h"

namespace apimesh::core_api {

/// What every answer about a resource warns of: that it is on its way out.
std::vector<std::string> DeprecationsOf(const meta::Gvr& resource);

}  // namespace apimesh::core_api
