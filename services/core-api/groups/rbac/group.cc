#include "services/core-api/groups/rbac/group.h"

#include "services/core-api/groups/rbac/bindings.h"
#include "services/core-api/groups/rbac/roles.h"

namespace apimesh::core_api {

std::vector<registry::Resource> RbacGroup() {
  return {
      ClusterRoleResource(),
      ClusterRoleBindingResource(),
      RoleResource(),
      RoleBindingResource(),
  };
}

}  // namespace apimesh::core_api
