#pragma once

#include "services/authn-authz/authorizers/abac/flags.h"
#include "services/authn-authz/authorizers/inputs.h"

namespace apimesh::authn_authz {

/// Factory for chain.cc: the policies of --authorization-policy-file.
std::unique_ptr<Authorizer> MakeAbac(const AuthorizerInputs& inputs);

}  // namespace apimesh::authn_authz
