#include "lib/service/webhook/kubeconfig.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "lib/base/secrets/secret_file.h"
#include "lib/base/secrets/wiping_memory.h"
#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "lib/meta/object.h"

namespace apimesh::service {
namespace {

meta::Result<SecretBytes> Contents(const std::string& path) {
  std::optional<SecretBytes> text = ReadSecretFile(path);
  if (!text) return meta::BadRequest(fmt::format("open {}: {}", path, std::strerror(errno)));
  return std::move(*text);
}

meta::Result<boost::json::object> ParseFile(std::string_view text) {
  codec::ParseLimits limits;
  limits.depth = 64;
  ASSIGN_OR_RETURN(boost::json::value value, codec::ParseYaml(text, WipingMemory::New(), nullptr, limits));
  if (!value.is_object()) return meta::BadRequest("the file does not hold an object");
  return std::move(value.get_object());
}

// Returns `field` of the element of `list` with this name; nullptr if there is none.
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

/// Decodes a base64 field; "" if it is absent.
meta::Result<std::string> InlineData(const boost::json::object& parent, std::string_view field) {
  const std::string_view data = meta::FindString(parent, field);
  if (data.empty()) return std::string();
  std::string decoded;
  if (DecodeBase64(data, decoded))
    return meta::BadRequest(fmt::format("invalid configuration: {} is not base64", field));
  return decoded;
}

/// Inline data takes precedence over file names.
meta::Result<> ReadClientCertificate(const boost::json::object& user, const std::string& folder,
                                     net::ClientTlsOptions& tls) {
  ASSIGN_OR_RETURN(tls.cert_pem, InlineData(user, "client-certificate-data"));
  ASSIGN_OR_RETURN(tls.key_pem, InlineData(user, "client-key-data"));
  const std::string cert_file = Absolute(meta::FindString(user, "client-certificate"), folder);
  const std::string key_file = Absolute(meta::FindString(user, "client-key"), folder);
  if (tls.cert_pem.empty() && tls.key_pem.empty()) {
    tls.cert_file = cert_file;
    tls.key_file = key_file;
    return {};
  }
  if (tls.cert_pem.empty()) {
    ASSIGN_OR_RETURN(const SecretBytes pem, Contents(cert_file));
    tls.cert_pem = pem;
  }
  if (tls.key_pem.empty()) {
    ASSIGN_OR_RETURN(const SecretBytes pem, Contents(key_file));
    tls.key_pem = pem;
  }
  return {};
}

/// Joins two texts without a copy in other memory.
std::string Join(std::string_view first, std::string_view second) {
  std::string joined;
  joined.reserve(first.size() + second.size());
  joined += first;
  joined += second;
  return joined;
}

/// Returns the value of the Authorization header, or "".
meta::Result<std::string> AuthorizationOf(const boost::json::object& user, const std::string& folder) {
  constexpr std::string_view kBearer = "Bearer ";
  if (const std::string_view token = meta::FindString(user, "token"); !token.empty()) return Join(kBearer, token);
  if (const std::string_view file = meta::FindString(user, "tokenFile"); !file.empty()) {
    ASSIGN_OR_RETURN(const SecretBytes contents, Contents(Absolute(file, folder)));
    std::string_view token = contents;
    while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.remove_suffix(1);
    if (!token.empty()) return Join(kBearer, token);
  }
  const std::string_view name = meta::FindString(user, "username"), password = meta::FindString(user, "password");
  if (name.empty() && password.empty()) return std::string();
  std::string pair = fmt::format("{}:{}", name, password);
  const WipeAtEnd wipe_pair(pair);
  std::string encoded = EncodeBase64(pair);
  const WipeAtEnd wipe_encoded(encoded);
  return Join("Basic ", encoded);
}

meta::Result<WebhookCredentials> CredentialsOf(const boost::json::object& user, const std::string& folder) {
  for (const std::string_view unsupported : {"exec", "auth-provider"}) {
    if (meta::FindField(user, unsupported))
      return meta::BadRequest(fmt::format("users with \"{}\" are not supported", unsupported));
  }
  WebhookCredentials credentials;
  net::ClientTlsOptions tls;
  RETURN_IF_ERROR(ReadClientCertificate(user, folder, tls));
  credentials.cert_file = tls.cert_file;
  credentials.key_file = tls.key_file;
  credentials.cert_pem = std::move(tls.cert_pem);
  credentials.key_pem = std::move(tls.key_pem);
  ASSIGN_OR_RETURN(std::string authorization, AuthorizationOf(user, folder));
  if (!authorization.empty()) credentials.headers.emplace_back("authorization", std::move(authorization));
  if (const std::string_view as = meta::FindString(user, "as"); !as.empty())
    credentials.headers.emplace_back("impersonate-user", as);
  return credentials;
}

}  // namespace

meta::Result<KubeconfigUsers> ParseKubeconfigUsers(std::string_view text, const std::string& folder) {
  ASSIGN_OR_RETURN(const boost::json::object config, ParseFile(text));
  KubeconfigUsers made;
  const boost::json::value* users = meta::FindField(config, "users");
  for (std::size_t i = 0; users && users->is_array() && i < users->get_array().size(); ++i) {
    const boost::json::object* entry = users->get_array()[i].if_object();
    const boost::json::value* user = entry ? meta::FindField(*entry, "user") : nullptr;
    if (!user || !user->is_object()) continue;
    ASSIGN_OR_RETURN(made.users[std::string(meta::FindString(*entry, "name"))],
                     CredentialsOf(user->get_object(), folder));
  }
  const boost::json::object* context =
      Named(config, "contexts", meta::FindString(config, "current-context"), "context");
  if (context) made.current = meta::FindString(*context, "user");
  return made;
}

meta::Result<WebhookEndpoint> ParseKubeconfig(std::string_view text, const std::string& folder) {
  ASSIGN_OR_RETURN(const boost::json::object config, ParseFile(text));
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
  endpoint.tls.ca_file = Absolute(meta::FindString(*cluster, "certificate-authority"), folder);
  ASSIGN_OR_RETURN(endpoint.tls.ca_pem, InlineData(*cluster, "certificate-authority-data"));
  if (!endpoint.tls.ca_pem.empty()) endpoint.tls.ca_file.clear();
  endpoint.tls.server_name = meta::FindString(*cluster, "tls-server-name");
  const boost::json::value* insecure = meta::FindField(*cluster, "insecure-skip-tls-verify");
  endpoint.tls.insecure_skip_verify = insecure && insecure->is_bool() && insecure->get_bool();

  const boost::json::object* user = Named(config, "users", meta::FindString(*context, "user"), "user");
  if (!user) return endpoint;
  RETURN_IF_ERROR(ReadClientCertificate(*user, folder, endpoint.tls));
  ASSIGN_OR_RETURN(endpoint.authorization, AuthorizationOf(*user, folder));
  return endpoint;
}

meta::Result<WebhookEndpoint> ReadKubeconfig(const std::string& path) {
  ASSIGN_OR_RETURN(const SecretBytes text, Contents(path));
  auto endpoint = ParseKubeconfig(text, std::filesystem::path(path).parent_path().string());
  if (!endpoint) return meta::BadRequest(fmt::format("{}: {}", path, endpoint.error().Message()));
  return endpoint;
}

}  // namespace apimesh::service
