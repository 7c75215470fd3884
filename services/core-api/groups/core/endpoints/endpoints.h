#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource EndpointsResource();

}  // namespace apimesh::core_api
