#pragma once

#include "services/authn-authz/authorizers/rbac/policy_rule.h"

namespace apimesh::authn_authz {

/// The permissions of every node for resources that are not checked per object.
const std::vector<PolicyRule>& NodeRules();

}  // namespace apimesh::authn_authz
