#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/rbac/bindings.h"
#include "services/core-api/groups/rbac/roles.h"

namespace apimesh::core_api {

std::vector<registry::Resource> RbacGroup(const KindInputs& inputs) {
  return {
      ClusterRoleBindingResource(inputs),
      ClusterRoleResource(inputs),
      RoleBindingResource(inputs),
      RoleResource(inputs),
  };
}

}  // namespace apimesh::core_api
