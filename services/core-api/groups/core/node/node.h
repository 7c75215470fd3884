#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

registry::Resource NodeResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
