#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource DeploymentResource();

}  // namespace apimesh::core_api
