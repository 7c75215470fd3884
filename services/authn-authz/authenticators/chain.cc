#include "services/authn-authz/authenticators/chain.h"

#include "services/authn-authz/authenticators/anonymous/anonymous.h"
#include "services/authn-authz/authenticators/bearer/bearer.h"
#include "services/authn-authz/authenticators/bootstrap/bootstrap.h"
#include "services/authn-authz/authenticators/oidc/make.h"
#include "services/authn-authz/authenticators/requestheader/requestheader.h"
#include "services/authn-authz/authenticators/serviceaccount/serviceaccount.h"
#include "services/authn-authz/authenticators/tokenfile/tokenfile.h"
#include "services/authn-authz/authenticators/union.h"
#include "services/authn-authz/authenticators/webhook/webhook.h"
#include "services/authn-authz/authenticators/x509/x509.h"
#include "services/authn-authz/config/authentication_config.h"
#include "services/authn-authz/config/or_throw.h"

namespace apimesh::authn_authz {
namespace {

/// An authenticator: the function that binds its options (nullptr: it has none) and its factory.
template <class Kind>
struct Entry {
  std::string_view name;
  void (*bind)(flags::OptionSet& options, flags::Binder& flags);
  std::unique_ptr<Kind> (*make)(const AuthenticatorInputs& inputs);
  std::string_view why_here;
};
using flags::BindOptions;

// Both lists are in the order in which authenticators are called. The first list has those that use the connection of
// the request.
constexpr Entry<Authenticator> kRequestAuthenticators[] = {
    {"requestheader", &BindOptions<RequestHeaderFlags>, &MakeRequestHeader,
     "before x509: the certificate of a front proxy must not be taken for that of a user"},
    {"x509", nullptr, &MakeX509, "before tokens: verifying a certificate needs no other server"},
};

// The second list has those that authenticate bearer tokens.
constexpr Entry<TokenAuthenticator> kTokenAuthenticators[] = {
    {"tokenfile", &BindOptions<TokenFileFlags>, &MakeTokenFile, "first: a lookup in memory"},
    {"serviceaccount-legacy", &BindOptions<ServiceAccountFlags>, &MakeLegacyServiceAccount,
     "before bound tokens, as in the reference: both are JWTs, distinguished by their issuer"},
    {"serviceaccount", nullptr, &MakeBoundServiceAccount, "before oidc: its keys are in local files"},
    {"bootstrap", &BindOptions<BootstrapTokenFlags>, &MakeBootstrapToken, "reads a Secret"},
    {"oidc", &BindOptions<OidcFlags>, &MakeOidc, "after service accounts: fetching the keys of an issuer is expensive"},
    {"webhook", &BindOptions<TokenWebhookFlags>, &MakeTokenWebhook, "last: every token costs a call of another server"},
};

template <class Kind, std::size_t size>
std::vector<std::unique_ptr<Kind>> MakeAll(const Entry<Kind> (&entries)[size], const AuthenticatorInputs& inputs) {
  std::vector<std::unique_ptr<Kind>> made;
  for (const Entry<Kind>& entry : entries) {
    if (auto authenticator = entry.make(inputs)) made.push_back(std::move(authenticator));
  }
  return made;
}

}  // namespace

void BindAuthenticators(flags::OptionSet& options, flags::Binder& flags) {
  const auto bind = [&](const auto& entry) {
    if (entry.bind) entry.bind(options, flags);
  };
  for (const auto& entry : kRequestAuthenticators) bind(entry);
  for (const auto& entry : kTokenAuthenticators) bind(entry);
}

AuthenticatorChain BuildAuthenticatorChain(const AuthenticationOptions& options, std::shared_ptr<TokenObjects> objects,
                                           const Clock& clock, service::Metrics& metrics,
                                           std::shared_ptr<externaljwt::Signer> token_signer) {
  AuthenticatorChain chain;
  chain.api_audiences = options.api_audiences.empty() ? options.service_account_issuers : options.api_audiences;
  const AuthenticationConfig config = OrThrow(LoadAuthenticationConfig(options));
  if (!config.issuers.empty() || !options.authentication_config.empty()) {
    chain.issuers = std::make_shared<Issuers>(config.issuers, clock);
  }
  const AuthenticatorInputs inputs{options, chain.api_audiences,     chain.issuers, std::move(objects),
                                   clock,   std::move(token_signer), &metrics};
  std::vector<std::unique_ptr<Authenticator>> requests = MakeAll(kRequestAuthenticators, inputs);
  std::vector<std::unique_ptr<TokenAuthenticator>> tokens = MakeAll(kTokenAuthenticators, inputs);
  if (!tokens.empty()) {
    auto cache = std::make_shared<TokenCache>(NewTokenUnion(std::move(tokens), OnError::kTryTheRest),
                                              TokenCache::Options(), clock, &metrics);
    chain.token_cache = cache.get();
    requests.push_back(NewBearer(cache));
    requests.push_back(NewWebSocketBearer(cache));
  }

  std::unique_ptr<Authenticator> all = NewAuthenticatedGroupAdder(NewUnion(std::move(requests), OnError::kTryTheRest));
  if (config.anonymous) {
    // An invalid credential is refused; only a request without credentials is anonymous.
    std::vector<std::unique_ptr<Authenticator>> both;
    both.push_back(std::move(all));
    both.push_back(NewAnonymous(config.anonymous_paths));
    all = NewUnion(std::move(both), OnError::kStop);
  }
  chain.authenticator = std::move(all);
  return chain;
}

}  // namespace apimesh::authn_authz
