#pragma once

#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz {

/// Bootstrap tokens "abcdef.0123456789abcdef": Secrets of type bootstrap.kubernetes.io/token in kube-system. Whatever is
/// wrong with one, the answer is "not mine": a guesser learns nothing.
std::unique_ptr<TokenAuthenticator> NewBootstrapToken(std::shared_ptr<TokenObjects> objects, const Clock& clock);

}  // namespace apimesh::authn_authz
