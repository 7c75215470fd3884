#include "services/authn-authz/authenticators/chain.h"

#include <stdexcept>

#include "lib/auth/option_rules.h"
#include "services/authn-authz/authenticators/anonymous/anonymous.h"
#include "services/authn-authz/authenticators/bearer/bearer.h"
#include "services/authn-authz/authenticators/bootstrap/bootstrap.h"
#include "services/authn-authz/authenticators/requestheader/requestheader.h"
#include "services/authn-authz/authenticators/serviceaccount/serviceaccount.h"
#include "services/authn-authz/authenticators/tokenfile/tokenfile.h"
#include "services/authn-authz/authenticators/union.h"
#include "services/authn-authz/authenticators/webhook/webhook.h"
#include "services/authn-authz/authenticators/x509/x509.h"
#include "services/authn-authz/config/authentication_config.h"
#include "services/authn-authz/config/file.h"
#include "services/authn-authz/config/join_errors.h"

namespace apimesh::authn_authz {
namespace {

// What the operator gave must work, or the process must not start.
template <class T>
T OrThrow(meta::Result<T> result, std::string_view flag) {
  if (!result) throw std::runtime_error(fmt::format("--{}: {}", flag, result.error().Message()));
  return std::move(*result);
}

template <class T>
T OrThrow(meta::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().Message());
  return std::move(*result);
}

std::vector<auth::PublicKey> ServiceAccountKeys(const AuthenticationOptions& options) {
  std::vector<std::string> files = options.service_account_key_files;
  if (files.empty() && !options.service_account_signing_key_file.empty()) {
    files.push_back(options.service_account_signing_key_file);
  }
  std::vector<auth::PublicKey> keys;
  for (const std::string& file : files) {
    const std::string pem = OrThrow(ReadFile(file), "service-account-key-file");
    auto found = auth::PublicKey::FromPem(pem);
    if (!found) throw std::runtime_error(fmt::format("--service-account-key-file: {} holds no RSA or ECDSA key", file));
    keys.insert(keys.end(), found->begin(), found->end());
  }
  return keys;
}

std::unique_ptr<Authenticator> FrontProxy(const AuthenticationOptions& options, const Clock& clock) {
  const std::vector<std::string> errors = auth::RequestHeaderErrors(
      {.username_headers = options.requestheader_username_headers,
       .uid_headers = options.requestheader_uid_headers,
       .group_headers = options.requestheader_group_headers,
       .extra_headers_prefix = options.requestheader_extra_headers_prefix,
       .allowed_names = options.requestheader_allowed_names,
       .client_ca_pem = options.client_ca_file.empty() ? "" : OrThrow(ReadFile(options.client_ca_file), "client-ca-file"),
       .requestheader_client_ca_pem = OrThrow(ReadFile(options.requestheader_client_ca_file), "requestheader-client-ca-file")});
  if (!errors.empty()) throw std::runtime_error(JoinErrors(errors));
  std::shared_ptr<CertificateVerifier> verifier = OrThrow(
      CertificateVerifier::FromFile(options.requestheader_client_ca_file, clock), "requestheader-client-ca-file");
  return NewRequestHeader(std::move(verifier),
                          {options.requestheader_username_headers, options.requestheader_uid_headers,
                           options.requestheader_group_headers, options.requestheader_extra_headers_prefix,
                           options.requestheader_allowed_names});
}

// A shared object as a link of a chain that owns its links.
class SharedLink final : public TokenAuthenticator {
 public:
  explicit SharedLink(std::shared_ptr<TokenAuthenticator> inner) : inner_(std::move(inner)) {}
  Task<Answer> AuthenticateToken(TokenQuestionPtr question) override {
    return inner_->AuthenticateToken(std::move(question));
  }

 private:
  const std::shared_ptr<TokenAuthenticator> inner_;
};

std::unique_ptr<TokenAuthenticator> Webhook(const AuthenticationOptions& options, const std::vector<std::string>& audiences,
                                            const Clock& clock) {
  if (options.webhook_version != "v1" && options.webhook_version != "v1beta1") {
    throw std::runtime_error("--authentication-token-webhook-version: must be v1 or v1beta1");
  }
  auto client = NewReviewClient(
      OrThrow(ReadKubeconfig(options.webhook_config_file), "authentication-token-webhook-config-file"));
  auto webhook = NewTokenWebhook(std::move(client), options.webhook_version, audiences);
  // Besides the short cache of all tokens: a webhook's answers cost a round trip.
  const TokenCache::Options ttl{.success = options.webhook_cache_ttl, .failure = options.webhook_cache_ttl, .keep_errors = false};
  return std::make_unique<TokenCache>(std::move(webhook), ttl, clock);
}

}  // namespace

AuthenticatorChain BuildAuthenticatorChain(const AuthenticationOptions& options, std::shared_ptr<TokenObjects> objects,
                                           const Clock& clock, service::Metrics& metrics) {
  AuthenticatorChain chain;
  chain.api_audiences = options.api_audiences.empty() ? options.service_account_issuers : options.api_audiences;
  const std::vector<std::string>& audiences = chain.api_audiences;

  std::vector<std::unique_ptr<Authenticator>> requests;
  if (!options.requestheader_client_ca_file.empty()) {
    requests.push_back(NewAudienceAgnostic(audiences, FrontProxy(options, clock)));
  }
  if (!options.client_ca_file.empty()) {
    requests.push_back(NewX509(OrThrow(CertificateVerifier::FromFile(options.client_ca_file, clock), "client-ca-file")));
  }

  // Local ones first, then those that ask somebody.
  std::vector<std::unique_ptr<TokenAuthenticator>> tokens;
  if (!options.token_auth_file.empty()) {
    const std::string csv = OrThrow(ReadFile(options.token_auth_file), "token-auth-file");
    tokens.push_back(NewAudienceAgnosticToken(audiences, OrThrow(NewTokenFile(csv, options.token_auth_file))));
  }
  if (const std::vector<auth::PublicKey> keys = ServiceAccountKeys(options); !keys.empty()) {
    const ServiceAccountOptions accounts{keys, options.service_account_issuers, audiences, options.service_account_lookup};
    tokens.push_back(NewLegacyServiceAccount(accounts, objects));
    if (!options.service_account_issuers.empty()) tokens.push_back(NewBoundServiceAccount(accounts, objects, clock));
  }
  if (options.enable_bootstrap_token_auth) {
    tokens.push_back(NewAudienceAgnosticToken(audiences, NewBootstrapToken(objects, clock)));
  }

  const AuthenticationConfig config = OrThrow(LoadAuthenticationConfig(options));
  // After the service accounts: both are JWTs, and a look at an issuer's keys is dear.
  if (!config.issuers.empty() || !options.authentication_config.empty()) {
    chain.issuers = std::make_shared<Issuers>(config.issuers, clock);
    tokens.push_back(NewAudienceAgnosticToken(audiences, std::make_unique<SharedLink>(chain.issuers)));
  }
  if (!options.webhook_config_file.empty()) tokens.push_back(Webhook(options, audiences, clock));

  if (!tokens.empty()) {
    auto cache = std::make_shared<TokenCache>(NewTokenUnion(std::move(tokens), OnError::kTryTheRest),
                                              TokenCache::Options(), clock, &metrics);
    chain.token_cache = cache.get();
    requests.push_back(NewBearer(cache));
    requests.push_back(NewWebSocketBearer(cache));
  }

  std::unique_ptr<Authenticator> all = NewAuthenticatedGroupAdder(NewUnion(std::move(requests), OnError::kTryTheRest));
  if (config.anonymous) {
    // A bad credential is refused; only the absence of any makes a request anonymous.
    std::vector<std::unique_ptr<Authenticator>> both;
    both.push_back(std::move(all));
    both.push_back(NewAnonymous(config.anonymous_paths));
    all = NewUnion(std::move(both), OnError::kStop);
  }
  chain.authenticator = std::move(all);
  return chain;
}

}  // namespace apimesh::authn_authz
