#include "services/authn-authz/config/options.h"

#include <algorithm>
#include <utility>

namespace apimesh::authn_authz {

void AuthenticationOptions::Bind(flags::Binder& flags) {
  flags.Bind("anonymous-auth", anonymous_auth);
  flags.BindGiven("anonymous-auth", anonymous_auth_given);
  flags.Bind("api-audiences", api_audiences);
  flags.Bind("authentication-config", authentication_config);
  flags.Bind("client-ca-file", client_ca_file);
  flags.Bind("service-account-issuer", service_account_issuers);
}

void AuthorizationOptions::Bind(flags::Binder& flags) {
  flags.Bind("authorization-mode", modes);
  flags.BindGiven("authorization-mode", modes_given);
  flags.Bind("authorization-config", config_file);
}

bool ResetAnonymousAuth(Options& options) {
  const std::vector<std::string>& modes = options.authorization.modes;
  const bool always_allow =
      options.authorization.config_file.empty() && std::find(modes.begin(), modes.end(), "AlwaysAllow") != modes.end();
  return always_allow && std::exchange(options.authentication.anonymous_auth, false);
}

}  // namespace apimesh::authn_authz
