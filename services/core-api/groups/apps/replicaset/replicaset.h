#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource ReplicaSetResource();

}  // namespace apimesh::core_api
