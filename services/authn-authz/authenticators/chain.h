#pragma once

#include "services/authn-authz/authenticators/oidc/issuers.h"
#include "services/authn-authz/authenticators/token_cache/token_cache.h"
#include "services/authn-authz/config/options.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz {

struct AuthenticatorChain {
  std::shared_ptr<Authenticator> authenticator;
  TokenCache* token_cache = nullptr;        // part of the chain; null if there are no token authenticators
  std::shared_ptr<Issuers> issuers;         // part of the chain; null if there can be none
  std::vector<std::string> api_audiences;   // of this API server
};
/// The authenticators that the flags ask for, in the reference's order. Throws std::runtime_error with a clear text.
AuthenticatorChain BuildAuthenticatorChain(const AuthenticationOptions& options, std::shared_ptr<TokenObjects> objects,
                                           const Clock& clock, service::Metrics& metrics);

}  // namespace apimesh::authn_authz
