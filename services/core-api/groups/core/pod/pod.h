#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource PodResource();

}  // namespace apimesh::core_api
