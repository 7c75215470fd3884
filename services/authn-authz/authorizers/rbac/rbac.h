#pragma once

#include "services/authn-authz/authorizers/inputs.h"
#include "services/authn-authz/authorizers/rbac/rbac_index.h"

namespace apimesh::authn_authz {

/// Authorizes with `index`. While `loaded` returns false, nothing is allowed, and the reason says so.
std::unique_ptr<Authorizer> NewRbac(std::shared_ptr<const RbacIndex> index, std::function<bool()> loaded);

/// Factory for chain.cc.
std::unique_ptr<Authorizer> MakeRbac(const AuthorizerInputs& inputs);

}  // namespace apimesh::authn_authz
