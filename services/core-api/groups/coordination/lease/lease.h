#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource LeaseResource();

}  // namespace apimesh::core_api
