#include "services/authn-authz/config/options.h"

#include <CLI/CLI.hpp>
#include <iostream>

namespace apimesh::authn_authz {
namespace {

void AddList(CLI::App& app, const char* name, std::vector<std::string>& target, const char* help) {
  app.add_option(name, target, help)->delimiter(',');
}

void AddDuration(CLI::App& app, const char* name, std::chrono::milliseconds& target, const char* help) {
  const auto parse = [&target, name](const std::string& text) {
    const auto duration = ParseGoDuration(text);
    if (!duration) throw CLI::ValidationError(name, duration.error().Message());
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
  app.add_option("--service-account-key-file", o.service_account_key_files, "keys that verify service-account tokens");
  app.add_option("--service-account-signing-key-file", o.service_account_signing_key_file,
                 "verifies tokens when no --service-account-key-file is given");
  app.add_option("--service-account-issuer", o.service_account_issuers, "accepted issuers of service-account tokens");
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

Options ParseCommandLine(int argc, const char* const* argv) {
  Options options;
  CLI::App app("authn-authz: who you are and what you may do, for the processes of an apimesh", "authn-authz");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  AddAuthentication(app, options.authentication);
  AddAuthorization(app, options.authorization);
  app.add_option("--listen", options.listen, "unix:/path, or host:port with the mesh certificates; may be repeated")->required();
  app.add_option("--core-api", options.core_api, "unix:/path or dns:///host:port of core-api")->required();
  app.add_option("--mesh-ca-file", options.mesh_ca_file, "mesh CA, for host:port");
  app.add_option("--mesh-cert-file", options.mesh_cert_file, "mesh certificate of this process");
  app.add_option("--mesh-key-file", options.mesh_key_file, "its key");
  app.add_option("--threads", options.threads, "worker threads")->check(CLI::Range(1, 256));
  const std::map<std::string, log::Level> levels{{"debug", log::Level::kDebug}, {"info", log::Level::kInfo},
                                                 {"warning", log::Level::kWarning}, {"error", log::Level::kError}};
  app.add_option("--log-level", options.log_level, "debug, info, warning or error")->transform(CLI::CheckedTransformer(levels));
  const std::map<std::string, log::Format> formats{{"text", log::Format::kText}, {"json", log::Format::kJson}};
  app.add_option("--log-format", options.log_format, "text or json")->transform(CLI::CheckedTransformer(formats));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) {
    throw std::invalid_argument(error.what());
  }
  if (!options.core_api.starts_with("unix:") && options.mesh_ca_file.empty()) {
    throw std::invalid_argument("--core-api: a target that is not unix:/path needs --mesh-ca-file, --mesh-cert-file and --mesh-key-file");
  }
  return options;
}

meta::Result<std::chrono::milliseconds> ParseGoDuration(std::string_view text) {
  const auto bad = [&] { return meta::BadRequest(fmt::format("time: invalid duration \"{}\"", text)); };
  if (text == "0") return std::chrono::milliseconds(0);
  double total = 0;
  std::string_view rest = text;
  if (rest.empty()) return bad();
  while (!rest.empty()) {
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789."), rest.size());
    if (digits == 0) return bad();
    double value = 0;
    try {
      value = std::stod(std::string(rest.substr(0, digits)));
    } catch (const std::exception&) {
      return bad();
    }
    rest.remove_prefix(digits);
    const std::size_t unit_size = std::min(rest.find_first_of("0123456789."), rest.size());
    const std::string_view unit = rest.substr(0, unit_size);
    rest.remove_prefix(unit_size);
    if (unit == "h") total += value * 3'600'000;
    else if (unit == "m") total += value * 60'000;
    else if (unit == "s") total += value * 1'000;
    else if (unit == "ms") total += value;
    else if (unit == "us" || unit == "µs") total += value / 1'000;
    else if (unit == "ns") total += value / 1'000'000;
    else return bad();
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(total));
}

}  // namespace apimesh::authn_authz
