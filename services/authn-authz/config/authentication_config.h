#pragma once

#include "services/authn-authz/authenticators/oidc/oidc.h"
#include "services/authn-authz/config/options.h"

namespace apimesh::authn_authz {

/// The trusted issuers, and whether requests without credentials are accepted.
struct AuthenticationConfig {
  std::vector<OidcOptions> issuers;
  bool anonymous = true;
  std::vector<std::string> anonymous_paths;  // empty: all
  bool anonymous_in_file = false;            // set in the file, not by the flag

  bool SameAnonymous(const AuthenticationConfig& other) const {
    return anonymous == other.anonymous && anonymous_paths == other.anonymous_paths &&
           anonymous_in_file == other.anonymous_in_file;
  }
};
/// Reads --authentication-config, or else the --oidc-* and --anonymous-auth flags.
meta::Result<AuthenticationConfig> LoadAuthenticationConfig(const AuthenticationOptions& options);
/// Parses the contents of the file. The error names every invalid field, with the texts of kube-apiserver.
meta::Result<AuthenticationConfig> ParseAuthenticationConfig(std::string_view text,
                                                             const AuthenticationOptions& options);

}  // namespace apimesh::authn_authz
