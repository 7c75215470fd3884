#pragma once

#include "lib/auth/key.h"
#include "lib/cel/program.h"
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

  // By expressions, only in a file. Those of the first three stand instead of the claim.
  struct ExtraMapping {
    std::string key;
    cel::Program program;
  };
  struct Rule {
    cel::Program program;
    std::string message;  // of the refusal; "": the expression itself
  };
  std::optional<cel::Program> username_expression, groups_expression, uid_expression;
  std::vector<ExtraMapping> extra;
  std::vector<Rule> claim_rules, user_rules;
};
/// Tokens of that issuer; all others are "not mine".
std::unique_ptr<TokenAuthenticator> NewOidc(OidcOptions options, std::shared_ptr<KeySet> keys, const Clock& clock);

}  // namespace apimesh::authn_authz
