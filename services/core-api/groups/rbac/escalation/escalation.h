#pragma once

#include "lib/registry/resource.h"
#include "lib/service/auth_client.h"
#include "services/core-api/own_api.h"

/// Prevention of privilege escalation: users cannot grant permissions that they do not have. Members of system:masters
/// may write every role and binding.
namespace apimesh::core_api {

/// Returns the check for writes of roles: the user must have all permissions in the role's rules, or be allowed to
/// `escalate` the role. `resource` is "roles" or "clusterroles".
std::shared_ptr<registry::WriteChecks> MakeRoleChecks(std::string resource, service::AuthClientPtr auth);
/// Returns the check for writes of bindings: the user must have all permissions of the role, or be allowed to `bind`
/// it. `resource` is "rolebindings" or "clusterrolebindings".
std::shared_ptr<registry::WriteChecks> MakeBindingChecks(std::string resource, service::AuthClientPtr auth,
                                                         ReadObject read);

}  // namespace apimesh::core_api
