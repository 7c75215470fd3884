#pragma once

#include "services/authn-authz/authenticators/oidc/oidc.h"
#include "services/authn-authz/config/options.h"

namespace apimesh::authn_authz {

/// Issuers and the rule for requests without credentials.
struct AuthenticationConfig {
  std::vector<OidcOptions> issuers;
  bool anonymous = true;
  std::vector<std::string> anonymous_paths;  // empty: all
};
/// From --authentication-config, or else from the --oidc-* and --anonymous-auth flags. Mappings by expressions are refused
/// with a clear text: this build has no rule language yet.
meta::Result<AuthenticationConfig> LoadAuthenticationConfig(const AuthenticationOptions& options);
/// The file's contents; `service_account_issuers` may not be used again.
meta::Result<AuthenticationConfig> ParseAuthenticationConfig(std::string_view text, const AuthenticationOptions& options);

}  // namespace apimesh::authn_authz
