#include "services/authn-authz/authenticators/oidc/issuers.h"

#include "services/authn-authz/authenticators/union.h"

namespace apimesh::authn_authz {
namespace {

std::shared_ptr<KeySet> KeysOf(const OidcOptions& issuer, const Clock& clock) {
  std::string discovery = issuer.discovery_url;
  if (discovery.empty()) {
    discovery = issuer.issuer_url;
    if (discovery.ends_with('/')) discovery.pop_back();
    discovery += "/.well-known/openid-configuration";
  }
  http::ClientOptions client{.clock = clock};
  client.tls.ca_pem = issuer.ca_pem;
  client.max_response_bytes = 1 << 20;
  client.network = issuer.network;
  return std::make_shared<KeySet>(issuer.issuer_url, discovery, http::NewClient(client), clock);
}

std::shared_ptr<TokenAuthenticator> Build(const std::vector<OidcOptions>& options,
                                          const std::vector<std::shared_ptr<KeySet>>& keys, const Clock& clock) {
  std::vector<std::unique_ptr<TokenAuthenticator>> parts;
  for (std::size_t i = 0; i < options.size(); ++i) parts.push_back(NewOidc(options[i], keys[i], clock));
  return NewTokenUnion(std::move(parts), OnError::kStop);
}

std::vector<std::shared_ptr<KeySet>> AllKeys(const std::vector<OidcOptions>& options, const Clock& clock) {
  std::vector<std::shared_ptr<KeySet>> keys;
  for (const OidcOptions& issuer : options) keys.push_back(KeysOf(issuer, clock));
  return keys;
}

}  // namespace

Issuers::Issuers(const std::vector<OidcOptions>& options, const Clock& clock)
    : clock_(clock), current_(Build(options, AllKeys(options, clock), clock)) {}

Task<AuthenticationResult> Issuers::AuthenticateToken(TokenQuestionPtr question) {
  const std::shared_ptr<TokenAuthenticator> current = current_.load();
  co_return co_await current->AuthenticateToken(std::move(question));
}

Task<meta::Result<>> Issuers::Replace(std::vector<OidcOptions> options) {
  const std::vector<std::shared_ptr<KeySet>> keys = AllKeys(options, clock_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto loaded = co_await keys[i]->Load();
    if (!loaded) {
      co_return meta::ServiceUnavailable(fmt::format("oidc: authenticator for issuer \"{}\" is not healthy: {}",
                                                     options[i].issuer_url, loaded.error().Message()));
    }
  }
  current_.store(Build(options, keys, clock_));
  co_return meta::Result<>();
}

}  // namespace apimesh::authn_authz
