#include "services/authn-authz/config/kubeconfig.h"

#include <filesystem>

#include "lib/auth/base64url.h"
#include "lib/meta/object.h"
#include "services/authn-authz/config/file.h"
#include "services/authn-authz/config/yaml.h"

namespace apimesh::authn_authz {
namespace {

// The part `field` of the element of `list` with this name; nullptr if there is none.
const boost::json::object* Named(const boost::json::object& config, std::string_view list, std::string_view name,
                                 std::string_view field) {
  const boost::json::value* values = meta::FindField(config, list);
  if (!values || !values->is_array()) return nullptr;
  for (const boost::json::value& value : values->get_array()) {
    if (!value.is_object() || meta::FindString(value.get_object(), "name") != name) continue;
    const boost::json::value* part = meta::FindField(value.get_object(), field);
    return part ? part->if_object() : nullptr;
  }
  return nullptr;
}

std::string Absolute(std::string_view path, const std::string& folder) {
  return path.empty() ? "" : (std::filesystem::path(folder) / path).string();
}

/// What a field holds in base64; "" if it is absent.
meta::Result<std::string> InlineData(const boost::json::object& parent, std::string_view field) {
  const std::string_view data = meta::FindString(parent, field);
  if (data.empty()) return std::string();
  auto decoded = auth::DecodeBase64(data);
  if (!decoded) return meta::BadRequest(fmt::format("invalid configuration: {} is not base64", field));
  return std::move(*decoded);
}

/// Texts in the file itself count before the names of files.
meta::Result<> ReadClientCertificate(const boost::json::object& user, const std::string& folder, http::ClientOptions& client) {
  ASSIGN_OR_RETURN(client.cert_pem, InlineData(user, "client-certificate-data"));
  ASSIGN_OR_RETURN(client.key_pem, InlineData(user, "client-key-data"));
  const std::string cert_file = Absolute(meta::FindString(user, "client-certificate"), folder);
  const std::string key_file = Absolute(meta::FindString(user, "client-key"), folder);
  if (client.cert_pem.empty() && client.key_pem.empty()) {
    client.cert_file = cert_file;
    client.key_file = key_file;
    return {};
  }
  if (client.cert_pem.empty()) {
    ASSIGN_OR_RETURN(client.cert_pem, ReadFile(cert_file));
  }
  if (client.key_pem.empty()) {
    ASSIGN_OR_RETURN(client.key_pem, ReadFile(key_file));
  }
  return {};
}

}  // namespace

meta::Result<WebhookEndpoint> ParseKubeconfig(std::string_view text, const std::string& folder) {
  ASSIGN_OR_RETURN(const boost::json::object config, ParseConfigFile(text));
  const std::string_view current = meta::FindString(config, "current-context");
  const boost::json::object* context = Named(config, "contexts", current, "context");
  if (!context) return meta::BadRequest("invalid configuration: current-context names no context");
  const boost::json::object* cluster = Named(config, "clusters", meta::FindString(*context, "cluster"), "cluster");
  if (!cluster) return meta::BadRequest("invalid configuration: the context names no cluster");

  WebhookEndpoint endpoint;
  endpoint.url = meta::FindString(*cluster, "server");
  if (!endpoint.url.starts_with("https://") && !endpoint.url.starts_with("http://")) {
    return meta::BadRequest("invalid configuration: server must be an http or https URL");
  }
  endpoint.client.ca_file = Absolute(meta::FindString(*cluster, "certificate-authority"), folder);
  ASSIGN_OR_RETURN(endpoint.client.ca_pem, InlineData(*cluster, "certificate-authority-data"));
  if (!endpoint.client.ca_pem.empty()) endpoint.client.ca_file.clear();
  endpoint.client.server_name = meta::FindString(*cluster, "tls-server-name");
  const boost::json::value* insecure = meta::FindField(*cluster, "insecure-skip-tls-verify");
  endpoint.client.insecure_skip_verify = insecure && insecure->is_bool() && insecure->get_bool();

  const boost::json::object* user = Named(config, "users", meta::FindString(*context, "user"), "user");
  if (!user) return endpoint;
  RETURN_IF_ERROR(ReadClientCertificate(*user, folder, endpoint.client));
  std::string token(meta::FindString(*user, "token"));
  if (const std::string_view file = meta::FindString(*user, "tokenFile"); token.empty() && !file.empty()) {
    ASSIGN_OR_RETURN(token, ReadFile(Absolute(file, folder)));
    while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.pop_back();
  }
  if (!token.empty()) endpoint.authorization = "Bearer " + token;
  return endpoint;
}

meta::Result<WebhookEndpoint> ReadKubeconfig(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  auto endpoint = ParseKubeconfig(text, std::filesystem::path(path).parent_path().string());
  if (!endpoint) return meta::BadRequest(fmt::format("{}: {}", path, endpoint.error().Message()));
  return endpoint;
}

}  // namespace apimesh::authn_authz
