#pragma once

#include "services/authn-authz/authorizers/rbac/policy_rule.h"

namespace apimesh::authn_authz {

/// What every node may do with resources that are not looked at one by one.
const std::vector<PolicyRule>& NodeRules();

}  // namespace apimesh::authn_authz
