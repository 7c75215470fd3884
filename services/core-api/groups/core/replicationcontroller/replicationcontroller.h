#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

registry::Resource ReplicationControllerResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
