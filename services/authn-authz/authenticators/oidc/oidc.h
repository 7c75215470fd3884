#pragma once

#include "lib/auth/key.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/oidc/key_set.h"

namespace apimesh::authn_authz {

/// One trusted issuer of ID tokens, from the --oidc-* flags or from the authentication configuration file.
struct OidcOptions {
  std::string issuer_url;
  std::string discovery_url;  // "": the issuer's own
  std::string ca_pem;         // "": the system's CAs
  std::vector<std::string> audiences;
  std::vector<auth::Algorithm> algorithms{auth::Algorithm::kRs256};
  std::string username_claim = "sub", username_prefix;
  std::string groups_claim, groups_prefix;
  std::string uid_claim;
  std::map<std::string, std::string> required_claims;
};
/// Tokens of that issuer; all others are "not mine".
std::unique_ptr<TokenAuthenticator> NewOidc(OidcOptions options, std::unique_ptr<KeySet> keys, const Clock& clock);

}  // namespace apimesh::authn_authz
