#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

registry::Resource CsiStorageCapacityResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
