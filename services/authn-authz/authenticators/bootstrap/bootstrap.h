#pragma once

#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/bootstrap/flags.h"
#include "services/authn-authz/authenticators/inputs.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz {

/// Authenticates bootstrap tokens such as "abcdef.0123456789abcdef": Secrets of type bootstrap.kubernetes.io/token in
/// kube-system. For an invalid token the result is nullopt in all cases, so that an attacker learns nothing about it.
std::unique_ptr<TokenAuthenticator> NewBootstrapToken(std::shared_ptr<TokenObjects> objects, const Clock& clock);

/// Factory for chain.cc. It requires --enable-bootstrap-token-auth.
std::unique_ptr<TokenAuthenticator> MakeBootstrapToken(const AuthenticatorInputs& inputs);

}  // namespace apimesh::authn_authz
