#pragma once

#include "services/authn-authz/authenticators/authenticator.h"

namespace apimesh::authn_authz {

/// Authenticates "Authorization: Bearer …". A token that `tokens` does not recognise is an error, because no other
/// authenticator reads this header.
std::unique_ptr<Authenticator> NewBearer(std::shared_ptr<TokenAuthenticator> tokens);
/// Authenticates a token in the WebSocket subprotocol base64url.bearer.authorization.k8s.io.…, for browsers, which
/// can't set headers.
std::unique_ptr<Authenticator> NewWebSocketBearer(std::shared_ptr<TokenAuthenticator> tokens);

}  // namespace apimesh::authn_authz
