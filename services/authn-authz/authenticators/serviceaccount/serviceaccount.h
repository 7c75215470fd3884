#pragma once

#include "lib/credentials/key.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/inputs.h"
#include "services/authn-authz/authenticators/serviceaccount/flags.h"
#include "services/authn-authz/authenticators/serviceaccount/verification_keys.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz {

struct ServiceAccountOptions {
  std::shared_ptr<VerificationKeys> keys;
  std::vector<std::string> issuers;        // of bound tokens
  std::vector<std::string> api_audiences;  // of this API server; legacy tokens are valid only for these
  bool lookup = true;                      // legacy tokens: their Secret and service account must exist
};
/// Authenticates tokens issued by TokenRequest. The service account, and the pod, Secret or node to which the token is
/// bound, must exist with the same uid.
std::unique_ptr<TokenAuthenticator> NewBoundServiceAccount(ServiceAccountOptions options,
                                                           std::shared_ptr<TokenObjects> objects, const Clock& clock);
/// Authenticates legacy tokens, which are stored in Secrets and do not expire.
std::unique_ptr<TokenAuthenticator> NewLegacyServiceAccount(ServiceAccountOptions options,
                                                            std::shared_ptr<TokenObjects> objects);

/// Factories for chain.cc. Both require keys that verify tokens. Bound tokens also require --service-account-issuer.
std::unique_ptr<TokenAuthenticator> MakeLegacyServiceAccount(const AuthenticatorInputs& inputs);
std::unique_ptr<TokenAuthenticator> MakeBoundServiceAccount(const AuthenticatorInputs& inputs);

}  // namespace apimesh::authn_authz
