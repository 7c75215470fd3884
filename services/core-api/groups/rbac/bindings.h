#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

registry::Resource RoleBindingResource(const KindInputs& inputs);
registry::Resource ClusterRoleBindingResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
