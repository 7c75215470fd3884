#include "services/authn-authz/config/authentication_config.h"

#include <set>

#include "lib/meta/object.h"
#include "services/authn-authz/config/file.h"
#include "services/authn-authz/config/yaml.h"

namespace apimesh::authn_authz {
namespace {

// Every signing algorithm that is not a shared secret: what a configuration file allows.
const std::vector<auth::Algorithm> kAllAlgorithms{
    auth::Algorithm::kRs256, auth::Algorithm::kRs384, auth::Algorithm::kRs512, auth::Algorithm::kPs256, auth::Algorithm::kPs384,
    auth::Algorithm::kPs512, auth::Algorithm::kEs256, auth::Algorithm::kEs384, auth::Algorithm::kEs512};

meta::ApiError NoExpressions(std::string_view where) {
  return meta::BadRequest(fmt::format("{}: expressions are not supported by this build", where));
}

meta::Result<> ReadMapping(const boost::json::object& issuer, std::string_view name, std::string& claim, std::string* prefix) {
  const boost::json::value* mapping = meta::Find(issuer, "claimMappings", name);
  if (!mapping || !mapping->is_object()) return {};
  if (!meta::FindString(mapping->get_object(), "expression").empty()) {
    return NoExpressions(fmt::format("jwt[].claimMappings.{}.expression", name));
  }
  claim = meta::FindString(mapping->get_object(), "claim");
  if (prefix) *prefix = meta::FindString(mapping->get_object(), "prefix");
  return {};
}

meta::Result<OidcOptions> ReadIssuer(const boost::json::object& jwt) {
  OidcOptions out;
  out.algorithms = kAllAlgorithms;
  out.issuer_url = meta::FindString(jwt, "issuer", "url");
  if (!out.issuer_url.starts_with("https://")) return meta::BadRequest("jwt[].issuer.url: URL scheme must be https");
  out.discovery_url = meta::FindString(jwt, "issuer", "discoveryURL");
  if (!out.discovery_url.empty() && !out.discovery_url.starts_with("https://")) {
    return meta::BadRequest("jwt[].issuer.discoveryURL: URL scheme must be https");
  }
  out.ca_pem = meta::FindString(jwt, "issuer", "certificateAuthority");
  if (const boost::json::value* audiences = meta::Find(jwt, "issuer", "audiences"); audiences && audiences->is_array()) {
    for (const boost::json::value& audience : audiences->get_array()) {
      if (audience.is_string()) out.audiences.emplace_back(audience.get_string());
    }
  }
  if (out.audiences.empty()) return meta::BadRequest("jwt[].issuer.audiences: at least one jwt[].issuer.audiences is required");
  out.username_claim.clear();
  RETURN_IF_ERROR(ReadMapping(jwt, "username", out.username_claim, &out.username_prefix));
  RETURN_IF_ERROR(ReadMapping(jwt, "groups", out.groups_claim, &out.groups_prefix));
  RETURN_IF_ERROR(ReadMapping(jwt, "uid", out.uid_claim, nullptr));
  if (out.username_claim.empty()) return meta::BadRequest("jwt[].claimMappings.username: claim or expression is required");
  const boost::json::value* extra = meta::Find(jwt, "claimMappings", "extra");
  if (extra && extra->is_array() && !extra->get_array().empty()) return NoExpressions("jwt[].claimMappings.extra");
  const boost::json::value* user_rules = meta::FindField(jwt, "userValidationRules");
  if (user_rules && user_rules->is_array() && !user_rules->get_array().empty()) return NoExpressions("jwt[].userValidationRules");
  if (const boost::json::value* rules = meta::FindField(jwt, "claimValidationRules"); rules && rules->is_array()) {
    for (const boost::json::value& rule : rules->get_array()) {
      if (!rule.is_object()) continue;
      if (!meta::FindString(rule.get_object(), "expression").empty()) return NoExpressions("jwt[].claimValidationRules[]");
      out.required_claims[std::string(meta::FindString(rule.get_object(), "claim"))] =
          meta::FindString(rule.get_object(), "requiredValue");
    }
  }
  return out;
}

meta::Result<OidcOptions> FromFlags(const AuthenticationOptions& options) {
  OidcOptions out;
  out.issuer_url = options.oidc_issuer_url;
  if (!out.issuer_url.starts_with("https://")) return meta::BadRequest("--oidc-issuer-url: URL scheme must be https");
  if (options.oidc_client_id.empty()) return meta::BadRequest("oidc-issuer-url and oidc-client-id must be specified together");
  out.audiences = {options.oidc_client_id};
  if (!options.oidc_ca_file.empty()) {
    ASSIGN_OR_RETURN(out.ca_pem, ReadFile(options.oidc_ca_file));
  }
  out.algorithms.clear();
  for (const std::string& name : options.oidc_signing_algs) {
    const auto algorithm = auth::ParseAlgorithm(name);
    if (!algorithm) return meta::BadRequest(fmt::format("oidc: unsupported signing alg: \"{}\"", name));
    out.algorithms.push_back(*algorithm);
  }
  out.username_claim = options.oidc_username_claim;
  out.username_prefix = options.oidc_username_prefix;
  // Names that are not e-mail addresses are only unique to their issuer.
  if (out.username_prefix.empty() && out.username_claim != "email") out.username_prefix = out.issuer_url + "#";
  if (out.username_prefix == "-") out.username_prefix.clear();
  out.groups_claim = options.oidc_groups_claim;
  out.groups_prefix = options.oidc_groups_prefix;
  for (const std::string& pair : options.oidc_required_claims) {
    const std::size_t equal = pair.find('=');
    if (equal == pair.npos) return meta::BadRequest("--oidc-required-claim must be key=value");
    out.required_claims[pair.substr(0, equal)] = pair.substr(equal + 1);
  }
  return out;
}

}  // namespace

meta::Result<AuthenticationConfig> ParseAuthenticationConfig(std::string_view text, const AuthenticationOptions& options) {
  ASSIGN_OR_RETURN(const boost::json::object file, ParseConfigFile(text));
  if (meta::FindString(file, "kind") != "AuthenticationConfiguration" ||
      !meta::FindString(file, "apiVersion").starts_with("apiserver.config.k8s.io/v1")) {
    return meta::BadRequest("expected kind AuthenticationConfiguration of apiserver.config.k8s.io/v1");
  }
  AuthenticationConfig config;
  config.anonymous = options.anonymous_auth;
  std::set<std::string> seen(options.service_account_issuers.begin(), options.service_account_issuers.end());
  if (const boost::json::value* issuers = meta::FindField(file, "jwt"); issuers && issuers->is_array()) {
    for (const boost::json::value& jwt : issuers->get_array()) {
      if (!jwt.is_object()) return meta::BadRequest("jwt[]: must be objects");
      ASSIGN_OR_RETURN(OidcOptions issuer, ReadIssuer(jwt.get_object()));
      if (!seen.insert(issuer.issuer_url).second) {
        return meta::BadRequest(fmt::format("jwt[].issuer.url: \"{}\" is used twice or is the service-account issuer", issuer.issuer_url));
      }
      config.issuers.push_back(std::move(issuer));
    }
  }
  if (const boost::json::value* anonymous = meta::FindField(file, "anonymous"); anonymous && anonymous->is_object()) {
    const boost::json::value* enabled = meta::FindField(anonymous->get_object(), "enabled");
    config.anonymous = enabled && enabled->is_bool() && enabled->get_bool();
    const boost::json::value* conditions = meta::FindField(anonymous->get_object(), "conditions");
    if (conditions && conditions->is_array()) {
      for (const boost::json::value& condition : conditions->get_array()) {
        if (condition.is_object()) config.anonymous_paths.emplace_back(meta::FindString(condition.get_object(), "path"));
      }
    }
  }
  return config;
}

meta::Result<AuthenticationConfig> LoadAuthenticationConfig(const AuthenticationOptions& options) {
  if (!options.authentication_config.empty()) {
    if (!options.oidc_issuer_url.empty()) {
      return meta::BadRequest("authentication-config file and oidc-* flags are mutually exclusive");
    }
    ASSIGN_OR_RETURN(const std::string text, ReadFile(options.authentication_config));
    return ParseAuthenticationConfig(text, options);
  }
  AuthenticationConfig config;
  config.anonymous = options.anonymous_auth;
  if (!options.oidc_issuer_url.empty()) {
    ASSIGN_OR_RETURN(OidcOptions issuer, FromFlags(options));
    config.issuers.push_back(std::move(issuer));
  }
  return config;
}

}  // namespace apimesh::authn_authz
