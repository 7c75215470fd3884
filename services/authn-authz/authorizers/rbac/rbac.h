#pragma once

#include "services/authn-authz/authorizers/rbac/rbac_index.h"

namespace apimesh::authn_authz {

/// RBAC over `index`. While `loaded` says no, nobody is allowed anything here, with a reason that says why.
std::unique_ptr<Authorizer> NewRbac(std::shared_ptr<const RbacIndex> index, std::function<bool()> loaded);

}  // namespace apimesh::authn_authz
