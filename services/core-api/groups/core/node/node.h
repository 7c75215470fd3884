#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource NodeResource();

}  // namespace apimesh::core_api
