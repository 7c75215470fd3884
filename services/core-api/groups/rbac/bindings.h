#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource RoleBindingResource();
registry::Resource ClusterRoleBindingResource();

}  // namespace apimesh::core_api
