#include "services/console/cluster/identity.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "lib/base/secrets/secret_file.h"
#include "lib/service/webhook/kubeconfig.h"

namespace apimesh::console {
namespace {

constexpr std::size_t kLongestToken = 32 << 10;

struct Parsed {
  service::WebhookEndpoint endpoint;
  service::WebhookCredentials user;

  Parsed() = default;
  Parsed(Parsed&&) = default;
  ~Parsed() {
    for (std::string* secret : {&endpoint.tls.key_pem, &endpoint.authorization, &user.key_pem}) Wipe(*secret);
    for (auto& [name, value] : user.headers) Wipe(value);
  }
};

/// Users with "exec" or "auth-provider", which kubectl accepts, are errors here.
meta::Result<Parsed> Read(const std::string& path) {
  const std::optional<SecretBytes> text = ReadSecretFile(path);
  if (!text) return meta::InternalError(fmt::format("{}: {}", path, std::strerror(errno)));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Parsed parsed;
  ASSIGN_OR_RETURN(parsed.endpoint, service::ParseKubeconfig(*text, folder));
  ASSIGN_OR_RETURN(service::KubeconfigUsers users, service::ParseKubeconfigUsers(*text, folder));
  if (const auto user = users.users.find(users.current); user != users.users.end())
    parsed.user = std::move(user->second);
  if (!parsed.endpoint.url.starts_with("https://"))
    return meta::BadRequest(fmt::format("{}: the server must have an https URL", path));
  while (parsed.endpoint.url.ends_with('/')) parsed.endpoint.url.pop_back();
  return parsed;
}

IdentityPtr Make(const service::WebhookEndpoint& endpoint, http::Headers headers, const Clock& clock) {
  auto identity = std::make_shared<Identity>();
  http::ClientOptions options{.clock = clock};
  options.tls = endpoint.tls;
  identity->client = http::NewClient(std::move(options));
  identity->server = endpoint.url;
  identity->headers = std::move(headers);
  return identity;
}

bool IsTokenCharacter(char c) { return c > 0x20 && c < 0x7f; }

}  // namespace

meta::Result<IdentityPtr> Identities::OfKubeconfig() const {
  ASSIGN_OR_RETURN(Parsed parsed, Read(kubeconfig_));
  return Make(parsed.endpoint, std::move(parsed.user.headers), clock_);
}

meta::Result<IdentityPtr> Identities::OfToken(std::string_view token) const {
  if (token.empty() || token.size() > kLongestToken || !std::all_of(token.begin(), token.end(), &IsTokenCharacter))
    return meta::Unauthorized();
  ASSIGN_OR_RETURN(Parsed parsed, Read(kubeconfig_));
  net::ClientTlsOptions& tls = parsed.endpoint.tls;
  Wipe(tls.key_pem);
  tls.cert_pem.clear();
  tls.cert_file.clear();
  tls.key_file.clear();
  http::Headers headers;
  headers.emplace_back("authorization", fmt::format("Bearer {}", token));
  return Make(parsed.endpoint, std::move(headers), clock_);
}

}  // namespace apimesh::console
