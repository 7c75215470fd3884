#pragma once

#include "lib/auth/key.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz {

struct ServiceAccountOptions {
  std::vector<auth::PublicKey> keys;
  std::vector<std::string> issuers;        // of bound tokens
  std::vector<std::string> api_audiences;  // of this API server; legacy tokens are good for these only
  bool lookup = true;                      // legacy tokens: is the Secret still there?
};
/// Tokens issued by TokenRequest: the service account, and the pod, Secret or node they are bound to, must still be
/// there with the same uid.
std::unique_ptr<TokenAuthenticator> NewBoundServiceAccount(ServiceAccountOptions options, std::shared_ptr<TokenObjects> objects,
                                                           const Clock& clock);
/// Tokens without end that live in Secrets.
std::unique_ptr<TokenAuthenticator> NewLegacyServiceAccount(ServiceAccountOptions options,
                                                            std::shared_ptr<TokenObjects> objects);

}  // namespace apimesh::authn_authz
