#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::authn_authz {

struct OidcFlags {
  std::string issuer_url, client_id, ca_file, username_claim, username_prefix, groups_claim, groups_prefix;
  std::vector<std::string> signing_algs;
  std::vector<std::string> required_claims;  // "key=value"
  bool any_given = false;

  OidcFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("oidc-issuer-url", issuer_url);
    flags.Bind("oidc-client-id", client_id);
    flags.Bind("oidc-ca-file", ca_file);
    flags.Bind("oidc-username-claim", username_claim);
    flags.Bind("oidc-username-prefix", username_prefix);
    flags.Bind("oidc-groups-claim", groups_claim);
    flags.Bind("oidc-groups-prefix", groups_prefix);
    flags.Bind("oidc-signing-algs", signing_algs);
    flags.Bind("oidc-required-claim", required_claims);
    flags.BindGiven("oidc-", any_given);
  }
};

}  // namespace apimesh::authn_authz
