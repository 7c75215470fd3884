#include "services/authn-authz/config/authentication_config.h"

#include <set>

#include "lib/meta/object.h"
#include "services/authn-authz/authenticators/oidc/flags.h"
#include "services/authn-authz/config/file.h"
#include "services/authn-authz/config/issuer_config.h"
#include "services/authn-authz/config/strict.h"

namespace apimesh::authn_authz {
namespace {

constexpr std::size_t kMaxIssuers = 64;

const Shape& FileShape() {
  static const Shape anything, claim{{{"claim", anything}, {"prefix", anything}, {"expression", anything}}};
  static const Shape issuer{{{"url", anything},
                             {"discoveryURL", anything},
                             {"certificateAuthority", anything},
                             {"audiences", anything},
                             {"audienceMatchPolicy", anything},
                             {"egressSelectorType", anything}}};
  static const Shape mappings{{{"username", claim},
                               {"groups", claim},
                               {"uid", Shape{{{"claim", anything}, {"expression", anything}}}},
                               {"extra", Shape{{{"key", anything}, {"valueExpression", anything}}}}}};
  static const Shape rule{
      {{"claim", anything}, {"requiredValue", anything}, {"expression", anything}, {"message", anything}}};
  static const Shape user_rule{{{"expression", anything}, {"message", anything}}};
  static const Shape jwt{{{"issuer", issuer},
                          {"claimMappings", mappings},
                          {"claimValidationRules", rule},
                          {"userValidationRules", user_rule}}};
  static const Shape anonymous{{{"enabled", anything}, {"conditions", Shape{{{"path", anything}}}}}};
  static const Shape file{{{"jwt", jwt}, {"anonymous", anonymous}}};
  return file;
}

void ReadIssuers(const boost::json::object& file, const AuthenticationOptions& options, AuthenticationConfig& config,
                 meta::FieldErrors& errors) {
  const boost::json::value* list = meta::FindField(file, "jwt");
  if (!list || !list->is_array()) return;
  const meta::Path root("jwt");
  if (list->get_array().size() > kMaxIssuers) {
    errors.push_back(meta::TooMany(root.ToString(), list->get_array().size(), kMaxIssuers));
    return;
  }
  const std::set<std::string> own(options.service_account_issuers.begin(), options.service_account_issuers.end());
  std::set<std::string> urls, discovery_urls;
  for (std::size_t i = 0; i < list->get_array().size(); ++i) {
    const boost::json::value& jwt = list->get_array()[i];
    OidcOptions issuer =
        ReadIssuer(jwt.is_object() ? jwt.get_object() : boost::json::object(), root.Index(i), own, errors);
    const meta::Path where = root.Index(i).Child("issuer");
    if (!urls.insert(issuer.issuer_url).second)
      errors.push_back(meta::Duplicate(where.Child("url").ToString(), meta::Quoted(issuer.issuer_url)));
    if (!issuer.discovery_url.empty() && !discovery_urls.insert(issuer.discovery_url).second) {
      errors.push_back(meta::Duplicate(where.Child("discoveryURL").ToString(), meta::Quoted(issuer.discovery_url)));
    }
    config.issuers.push_back(std::move(issuer));
  }
}

void ReadAnonymous(const boost::json::object& file, AuthenticationConfig& config, meta::FieldErrors& errors) {
  const boost::json::value* anonymous = meta::FindField(file, "anonymous");
  if (!anonymous || !anonymous->is_object()) return;
  config.anonymous_in_file = true;
  const boost::json::value* enabled = meta::FindField(anonymous->get_object(), "enabled");
  config.anonymous = enabled && enabled->is_bool() && enabled->get_bool();
  const boost::json::value* conditions = meta::FindField(anonymous->get_object(), "conditions");
  boost::json::array shown;
  if (conditions && conditions->is_array()) {
    for (const boost::json::value& condition : conditions->get_array()) {
      if (!condition.is_object()) continue;
      config.anonymous_paths.emplace_back(meta::FindString(condition.get_object(), "path"));
      shown.push_back(boost::json::object{{"Path", config.anonymous_paths.back()}});
    }
  }
  if (!config.anonymous && !shown.empty()) {
    errors.push_back(meta::Invalid("anonymous.conditions", boost::json::serialize(shown),
                                   "enabled should be set to true when conditions are defined"));
  }
}

meta::Result<OidcOptions> FromFlags(const AuthenticationOptions& options) {
  const OidcFlags& flags = options.extensions.Get<OidcFlags>();
  OidcOptions out;
  out.issuer_url = flags.issuer_url;
  if (!out.issuer_url.starts_with("https://")) {
    return meta::BadRequest(fmt::format(
        "invalid authentication configuration: jwt[0].issuer.url: Invalid value: {}: URL scheme must be https",
        meta::Quoted(out.issuer_url)));
  }
  if (flags.client_id.empty()) return meta::BadRequest("oidc-issuer-url and oidc-client-id must be specified together");
  // The issuer must differ from the service account issuers, so that tokens of both can't be confused.
  const auto& own = options.service_account_issuers;
  if (std::find(own.begin(), own.end(), out.issuer_url) != own.end()) {
    return meta::BadRequest(
        fmt::format("issuer.url: Invalid value: {}: URL must not overlap with disallowed issuers: [{}]",
                    meta::Quoted(out.issuer_url), fmt::join(own, " ")));
  }
  out.audiences = {flags.client_id};
  if (!flags.ca_file.empty()) {
    ASSIGN_OR_RETURN(out.ca_pem, ReadFile(flags.ca_file));
  }
  out.algorithms.clear();
  for (const std::string& name : flags.signing_algs) {
    const auto algorithm = credentials::ParseAlgorithm(name);
    if (!algorithm) return meta::BadRequest(fmt::format("oidc: unsupported signing alg: \"{}\"", name));
    out.algorithms.push_back(*algorithm);
  }
  out.username_claim = flags.username_claim;
  out.username_prefix = flags.username_prefix;
  // Names that are not e-mail addresses are unique only within their issuer.
  if (out.username_prefix.empty() && out.username_claim != "email") out.username_prefix = out.issuer_url + "#";
  if (out.username_prefix == "-") out.username_prefix.clear();
  out.groups_claim = flags.groups_claim;
  out.groups_prefix = flags.groups_prefix;
  for (const std::string& pair : flags.required_claims) {
    const std::size_t equal = pair.find('=');
    if (equal == pair.npos) return meta::BadRequest("--oidc-required-claim must be key=value");
    out.required_claims[pair.substr(0, equal)] = pair.substr(equal + 1);
  }
  return out;
}

}  // namespace

meta::Result<AuthenticationConfig> ParseAuthenticationConfig(std::string_view text,
                                                             const AuthenticationOptions& options) {
  ASSIGN_OR_RETURN(const boost::json::object file,
                   ParseStrictly(text, "AuthenticationConfiguration", {"v1", "v1beta1", "v1alpha1"}, FileShape()));
  AuthenticationConfig config;
  config.anonymous = options.anonymous_auth;
  meta::FieldErrors errors;
  ReadIssuers(file, options, config, errors);
  ReadAnonymous(file, config, errors);
  if (!errors.empty())
    return meta::BadRequest(fmt::format("invalid authentication configuration: {}", JoinFieldErrors(errors)));
  return config;
}

meta::Result<AuthenticationConfig> LoadAuthenticationConfig(const AuthenticationOptions& options) {
  const OidcFlags& oidc = options.extensions.Get<OidcFlags>();
  if (!options.authentication_config.empty()) {
    if (oidc.any_given || !oidc.issuer_url.empty()) {
      return meta::BadRequest("authentication-config file and oidc-* flags are mutually exclusive");
    }
    ASSIGN_OR_RETURN(const std::string text, ReadFile(options.authentication_config));
    auto config = ParseAuthenticationConfig(text, options);
    if (config && config->anonymous_in_file && options.anonymous_auth_given) {
      return meta::BadRequest(
          "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in "
          "authentication configuration "
          "file");
    }
    if (config || config.error().Message().starts_with("invalid")) return config;
    return meta::BadRequest(fmt::format("failed to load authentication configuration from file {}: {}",
                                        meta::Quoted(options.authentication_config), config.error().Message()));
  }
  AuthenticationConfig config;
  config.anonymous = options.anonymous_auth;
  if (oidc.any_given && (oidc.issuer_url.empty() || oidc.client_id.empty())) {
    return meta::BadRequest(
        "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set");
  }
  if (!oidc.issuer_url.empty()) {
    ASSIGN_OR_RETURN(OidcOptions issuer, FromFlags(options));
    config.issuers.push_back(std::move(issuer));
  }
  return config;
}

}  // namespace apimesh::authn_authz
