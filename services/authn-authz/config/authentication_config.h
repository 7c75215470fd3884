#pragma once

#include "services/authn-authz/authenticators/oidc/oidc.h"
#include "services/authn-authz/config/options.h"

namespace apimesh::authn_authz {

/// Issuers and the rule for requests without credentials.
struct AuthenticationConfig {
  std::vector<OidcOptions> issuers;
  bool anonymous = true;
  std::vector<std::string> anonymous_paths;  // empty: all
  bool anonymous_in_file = false;            // rather than by the flag

  bool SameAnonymous(const AuthenticationConfig& other) const {
    return anonymous == other.anonymous && anonymous_paths == other.anonymous_paths &&
           anonymous_in_file == other.anonymous_in_file;
  }
};
/// From --authentication-config, or else from the --oidc-* and --anonymous-auth flags.
meta::Result<AuthenticationConfig> LoadAuthenticationConfig(const AuthenticationOptions& options);
/// The file's contents. The error names every field that is wrong, in the reference's words.
meta::Result<AuthenticationConfig> ParseAuthenticationConfig(std::string_view text, const AuthenticationOptions& options);

}  // namespace apimesh::authn_authz
