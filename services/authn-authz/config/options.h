#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "lib/meta/api_error.h"
#include "lib/service/flags.h"

namespace apimesh::authn_authz {

/// kube-apiserver's flags for authentication, under its names and with its defaults.
struct AuthenticationOptions {
  bool anonymous_auth = true;
  bool anonymous_auth_given = false, oidc_flags_given = false;  // by any flag of that name or prefix
  std::vector<std::string> api_audiences;
  std::string authentication_config;
  std::string client_ca_file;
  bool enable_bootstrap_token_auth = false;
  std::string token_auth_file;
  std::string webhook_config_file, webhook_version = "v1beta1";
  std::chrono::milliseconds webhook_cache_ttl{120'000};
  std::vector<std::string> service_account_key_files, service_account_issuers;
  std::string service_account_signing_key_file;
  bool service_account_lookup = true;
  std::string requestheader_client_ca_file;
  std::vector<std::string> requestheader_allowed_names, requestheader_username_headers, requestheader_uid_headers,
      requestheader_group_headers, requestheader_extra_headers_prefix;
  std::string oidc_issuer_url, oidc_client_id, oidc_ca_file, oidc_username_claim = "sub", oidc_username_prefix,
      oidc_groups_claim, oidc_groups_prefix;
  std::vector<std::string> oidc_signing_algs{"RS256"};
  std::vector<std::string> oidc_required_claims;  // "key=value"
};

/// kube-apiserver's flags for authorization.
struct AuthorizationOptions {
  std::vector<std::string> modes{"AlwaysAllow"};
  std::string policy_file;
  std::string config_file;
  std::string webhook_config_file, webhook_version = "v1beta1";
  std::chrono::milliseconds webhook_authorized_ttl{300'000}, webhook_unauthorized_ttl{30'000};
};

struct Options {
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  service::CommonFlags common;
  std::string core_api;  // "unix:/path" or "host:port"
};

/// Switches anonymous authentication off where the flags choose the authorizer AlwaysAllow, as kube-apiserver does: otherwise everybody
/// who can connect could do everything. Returns whether it was switched off. AuthorizationConfiguration and the anonymous section of
/// AuthenticationConfiguration are explicit decisions of the operator and are left alone, also as in kube-apiserver.
bool ResetAnonymousAuth(Options& options);

/// A value: the process should end with this exit code (0 after --help, 1 after a mistake, which has been printed).
std::optional<int> ParseCommandLine(int argc, char** argv, Options& options);

}  // namespace apimesh::authn_authz
