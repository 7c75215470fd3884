#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource RoleResource();
registry::Resource ClusterRoleResource();

}  // namespace apimesh::core_api
