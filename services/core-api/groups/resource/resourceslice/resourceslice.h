#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource ResourceSliceResource();

}  // namespace apimesh::core_api
