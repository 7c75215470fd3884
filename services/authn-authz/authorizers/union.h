#pragma once

#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// Calls each authorizer in order; the first that allows or denies decides. Reasons and errors of those without an
/// opinion are joined by line breaks, as in kube-apiserver.
std::unique_ptr<Authorizer> NewAuthorizerUnion(std::vector<std::unique_ptr<Authorizer>> parts);

}  // namespace apimesh::authn_authz
