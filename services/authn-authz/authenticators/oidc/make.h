#pragma once

#include "services/authn-authz/authenticators/inputs.h"
#include "services/authn-authz/authenticators/oidc/flags.h"

namespace apimesh::authn_authz {

/// Factory for chain.cc: the issuers of --oidc-issuer-url or --authentication-config.
std::unique_ptr<TokenAuthenticator> MakeOidc(const AuthenticatorInputs& inputs);

}  // namespace apimesh::authn_authz
