#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

registry::Resource RoleResource(const KindInputs& inputs);
registry::Resource ClusterRoleResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
