#pragma once

#include "lib/cel/program.h"
#include "lib/credentials/key.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/oidc/key_set.h"

namespace apimesh::authn_authz {

/// One trusted issuer of ID tokens, from the --oidc-* flags or from the authentication configuration file.
struct OidcOptions {
  std::string issuer_url;
  std::string discovery_url;                       // "": the default URL of the issuer
  std::string ca_pem;                              // "": the system's CAs
  http::Network network = http::Network::kDirect;  // through which the issuer is reached
  std::vector<std::string> audiences;
  std::vector<credentials::Algorithm> algorithms{credentials::Algorithm::kRs256};
  std::string username_claim = "sub", username_prefix;
  std::string groups_claim, groups_prefix;
  std::string uid_claim;
  std::map<std::string, std::string> required_claims;

  // CEL expressions, which only a configuration file can contain. The first three replace the corresponding claim.
  struct ExtraMapping {
    std::string key;
    cel::Program program;
  };
  struct Rule {
    cel::Program program;
    std::string message;  // message of the refusal; "": the expression itself
  };
  std::optional<cel::Program> username_expression, groups_expression, uid_expression;
  std::vector<ExtraMapping> extra;
  std::vector<Rule> claim_rules, user_rules;
};
/// Authenticates tokens of this issuer; the result for all others is nullopt.
std::unique_ptr<TokenAuthenticator> NewOidc(OidcOptions options, std::shared_ptr<KeySet> keys, const Clock& clock);

}  // namespace apimesh::authn_authz
