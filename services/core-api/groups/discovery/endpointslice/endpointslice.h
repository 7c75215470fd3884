#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource EndpointSliceResource();

}  // namespace apimesh::core_api
