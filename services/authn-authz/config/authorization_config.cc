#include "services/authn-authz/config/authorization_config.h"

#include "lib/meta/object.h"
#include "services/authn-authz/config/file.h"
#include "services/authn-authz/config/yaml.h"

namespace apimesh::authn_authz {
namespace {

meta::Result<std::chrono::milliseconds> ReadDuration(const boost::json::object& webhook, std::string_view field,
                                                     std::chrono::milliseconds otherwise) {
  const std::string_view text = meta::FindString(webhook, field);
  if (text.empty()) return otherwise;
  const auto duration = service::ParseDuration(text);
  if (!duration) return meta::BadRequest(fmt::format("authorizers[].webhook.{}: invalid duration \"{}\"", field, text));
  return *duration;
}

bool IsFalse(const boost::json::object& webhook, std::string_view field) {
  const boost::json::value* value = meta::FindField(webhook, field);
  return value && value->is_bool() && !value->get_bool();
}

meta::Result<AuthorizerConfig> ReadWebhook(const boost::json::object& entry) {
  const boost::json::value* value = meta::FindField(entry, "webhook");
  if (!value || !value->is_object()) return meta::BadRequest("authorizers[].webhook: required when type=Webhook");
  const boost::json::object& webhook = value->get_object();
  AuthorizerConfig out{.type = "Webhook", .webhook = {}, .kubeconfig = {}};
  ASSIGN_OR_RETURN(out.webhook.authorized_ttl, ReadDuration(webhook, "authorizedTTL", out.webhook.authorized_ttl));
  ASSIGN_OR_RETURN(out.webhook.unauthorized_ttl, ReadDuration(webhook, "unauthorizedTTL", out.webhook.unauthorized_ttl));
  ASSIGN_OR_RETURN(out.webhook.timeout, ReadDuration(webhook, "timeout", out.webhook.timeout));
  if (IsFalse(webhook, "cacheAuthorizedRequests")) out.webhook.authorized_ttl = {};
  if (IsFalse(webhook, "cacheUnauthorizedRequests")) out.webhook.unauthorized_ttl = {};
  out.webhook.version = meta::FindString(webhook, "subjectAccessReviewVersion");
  if (out.webhook.version != "v1" && out.webhook.version != "v1beta1") {
    return meta::BadRequest("authorizers[].webhook.subjectAccessReviewVersion: must be v1 or v1beta1");
  }
  const std::string_view policy = meta::FindString(webhook, "failurePolicy");
  if (policy != "Deny" && policy != "NoOpinion") {
    return meta::BadRequest("authorizers[].webhook.failurePolicy: must be NoOpinion or Deny");
  }
  out.webhook.deny_on_error = policy == "Deny";
  if (meta::FindString(webhook, "connectionInfo", "type") != "KubeConfigFile") {
    return meta::BadRequest("authorizers[].webhook.connectionInfo.type: only KubeConfigFile is supported");
  }
  out.kubeconfig = meta::FindString(webhook, "connectionInfo", "kubeConfigFile");
  const boost::json::value* conditions = meta::FindField(webhook, "matchConditions");
  if (conditions && conditions->is_array() && !conditions->get_array().empty()) {
    return meta::BadRequest("authorizers[].webhook.matchConditions: expressions are not supported by this build");
  }
  return out;
}

}  // namespace

meta::Result<std::vector<AuthorizerConfig>> ParseAuthorizationConfig(std::string_view text) {
  ASSIGN_OR_RETURN(const boost::json::object file, ParseConfigFile(text));
  if (meta::FindString(file, "kind") != "AuthorizationConfiguration" ||
      !meta::FindString(file, "apiVersion").starts_with("apiserver.config.k8s.io/v1")) {
    return meta::BadRequest("expected kind AuthorizationConfiguration of apiserver.config.k8s.io/v1");
  }
  std::vector<AuthorizerConfig> out;
  const boost::json::value* authorizers = meta::FindField(file, "authorizers");
  if (!authorizers || !authorizers->is_array() || authorizers->get_array().empty()) {
    return meta::BadRequest("authorizers: at least one authorization mode must be defined");
  }
  for (const boost::json::value& value : authorizers->get_array()) {
    if (!value.is_object()) return meta::BadRequest("authorizers[]: must be objects");
    const std::string type(meta::FindString(value.get_object(), "type"));
    if (type == "Webhook") {
      ASSIGN_OR_RETURN(AuthorizerConfig webhook, ReadWebhook(value.get_object()));
      out.push_back(std::move(webhook));
    } else {
      out.push_back({.type = type, .webhook = {}, .kubeconfig = {}});
    }
  }
  return out;
}

meta::Result<std::vector<AuthorizerConfig>> LoadAuthorizationConfig(const AuthorizationOptions& options) {
  if (!options.config_file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(options.config_file));
    return ParseAuthorizationConfig(text);
  }
  std::vector<AuthorizerConfig> out;
  for (const std::string& mode : options.modes) {
    AuthorizerConfig& config = out.emplace_back();
    config.type = mode;
    if (mode != "Webhook") continue;
    if (options.webhook_config_file.empty()) {
      return meta::BadRequest("authorization-mode Webhook's authorization config file not passed");
    }
    config.kubeconfig = options.webhook_config_file;
    config.webhook.version = options.webhook_version;
    config.webhook.authorized_ttl = options.webhook_authorized_ttl;
    config.webhook.unauthorized_ttl = options.webhook_unauthorized_ttl;
  }
  return out;
}

}  // namespace apimesh::authn_authz
