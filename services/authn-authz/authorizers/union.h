#pragma once

#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// Asks each in turn; the first that allows or denies decides. Reasons and errors of those without an opinion are joined
/// by line breaks, as in the reference.
std::unique_ptr<Authorizer> NewAuthorizerUnion(std::vector<std::unique_ptr<Authorizer>> parts);

}  // namespace apimesh::authn_authz
