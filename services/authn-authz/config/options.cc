#include "services/authn-authz/config/options.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>

namespace apimesh::authn_authz {
namespace {

void AddList(CLI::App& app, const char* name, std::vector<std::string>& target, const char* help) {
  app.add_option(name, target, help)->delimiter(',')->allow_extra_args(false);
}

void AddDuration(CLI::App& app, const char* name, std::chrono::milliseconds& target, const char* help) {
  const auto parse = [&target, name](const std::string& text) {
    const auto duration = service::ParseDuration(text);
    if (!duration) throw CLI::ValidationError(name, "invalid duration: " + text);
    target = *duration;
  };
  app.add_option_function<std::string>(name, parse, help);
}

void AddAuthentication(CLI::App& app, AuthenticationOptions& o) {
  app.add_flag("--anonymous-auth", o.anonymous_auth, "requests without credentials are system:anonymous");
  AddList(app, "--api-audiences", o.api_audiences, "audiences of this server; default: the service-account issuers");
  app.add_option("--authentication-config", o.authentication_config, "file with JWT issuers and the anonymous rule");
  app.add_option("--client-ca-file", o.client_ca_file, "CA of client certificates");
  app.add_flag("--enable-bootstrap-token-auth", o.enable_bootstrap_token_auth, "take bootstrap tokens");
  app.add_option("--token-auth-file", o.token_auth_file, "file of static tokens: token,user,uid,\"groups\"");
  app.add_option("--authentication-token-webhook-config-file", o.webhook_config_file, "kubeconfig of the token webhook");
  app.add_option("--authentication-token-webhook-version", o.webhook_version, "version of TokenReview sent to it");
  AddDuration(app, "--authentication-token-webhook-cache-ttl", o.webhook_cache_ttl, "how long its answers are used");
  app.add_option("--service-account-key-file", o.service_account_key_files, "keys that verify service-account tokens")
      ->allow_extra_args(false);
  app.add_option("--service-account-signing-key-file", o.service_account_signing_key_file,
                 "verifies tokens when no --service-account-key-file is given");
  app.add_option("--service-account-issuer", o.service_account_issuers, "accepted issuers of service-account tokens")
      ->allow_extra_args(false);
  app.add_flag("--service-account-lookup", o.service_account_lookup, "check that the objects behind a legacy token exist");
  app.add_option("--requestheader-client-ca-file", o.requestheader_client_ca_file, "CA of front proxies");
  AddList(app, "--requestheader-allowed-names", o.requestheader_allowed_names, "common names of front proxies");
  AddList(app, "--requestheader-username-headers", o.requestheader_username_headers, "headers with the user name");
  AddList(app, "--requestheader-uid-headers", o.requestheader_uid_headers, "headers with the user id");
  AddList(app, "--requestheader-group-headers", o.requestheader_group_headers, "headers with groups");
  AddList(app, "--requestheader-extra-headers-prefix", o.requestheader_extra_headers_prefix, "prefixes of extra headers");
  app.add_option("--oidc-issuer-url", o.oidc_issuer_url, "OpenID issuer, https only");
  app.add_option("--oidc-client-id", o.oidc_client_id, "audience that its tokens must have");
  app.add_option("--oidc-ca-file", o.oidc_ca_file, "CA of the issuer");
  app.add_option("--oidc-username-claim", o.oidc_username_claim, "claim with the user name");
  app.add_option("--oidc-username-prefix", o.oidc_username_prefix, "prefix of that name; -: none");
  app.add_option("--oidc-groups-claim", o.oidc_groups_claim, "claim with the groups");
  app.add_option("--oidc-groups-prefix", o.oidc_groups_prefix, "prefix of those groups");
  AddList(app, "--oidc-signing-algs", o.oidc_signing_algs, "accepted signing algorithms");
  AddList(app, "--oidc-required-claim", o.oidc_required_claims, "claim=value that tokens must have");
}

void AddAuthorization(CLI::App& app, AuthorizationOptions& o) {
  AddList(app, "--authorization-mode", o.modes, "AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node, in order");
  app.add_option("--authorization-policy-file", o.policy_file, "ABAC policy, one JSON object a line");
  app.add_option("--authorization-config", o.config_file, "file with the chain of authorizers");
  app.add_option("--authorization-webhook-config-file", o.webhook_config_file, "kubeconfig of the authorization webhook");
  app.add_option("--authorization-webhook-version", o.webhook_version, "version of SubjectAccessReview sent to it");
  AddDuration(app, "--authorization-webhook-cache-authorized-ttl", o.webhook_authorized_ttl, "how long a yes is used");
  AddDuration(app, "--authorization-webhook-cache-unauthorized-ttl", o.webhook_unauthorized_ttl, "how long a no is used");
}

}  // namespace

bool ResetAnonymousAuth(Options& options) {
  const std::vector<std::string>& modes = options.authorization.modes;
  const bool always_allow = options.authorization.config_file.empty() && std::find(modes.begin(), modes.end(), "AlwaysAllow") != modes.end();
  return always_allow && std::exchange(options.authentication.anonymous_auth, false);
}

std::optional<int> ParseCommandLine(int argc, char** argv, Options& options) {
  CLI::App app("authn-authz: who you are and what you may do, for the processes of an apimesh", "authn-authz");
  AddAuthentication(app, options.authentication);
  AddAuthorization(app, options.authorization);
  options.common.AddTo(app);
  app.get_option("--listen")->required();
  app.add_option("--core-api", options.core_api, "where core-api is: unix:/path or host:port")->required();
  if (const std::optional<int> code = service::Parse(app, argc, argv)) return code;
  const auto given = [&app](const char* name) { return app.get_option(name)->count() > 0; };
  options.authentication.anonymous_auth_given = given("--anonymous-auth");
  for (const CLI::Option* option : app.get_options()) {
    options.authentication.oidc_flags_given |= option->count() > 0 && option->get_name().starts_with("--oidc-");
  }
  const bool by_flags = given("--authorization-mode") || given("--authorization-webhook-config-file") ||
                        given("--authorization-webhook-version") ||
                        given("--authorization-webhook-cache-authorized-ttl") ||
                        given("--authorization-webhook-cache-unauthorized-ttl");
  if (!options.authorization.config_file.empty() && by_flags) {
    std::fputs(
        "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are "
        "defined\n",
        stderr);
    return 1;
  }
  return std::nullopt;
}

}  // namespace apimesh::authn_authz
