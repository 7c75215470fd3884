#pragma once

#include "lib/service/metrics.h"
#include "services/authn-authz/authenticators/inputs.h"
#include "services/authn-authz/authenticators/token_cache/token_cache.h"

namespace apimesh::authn_authz {

struct AuthenticatorChain {
  std::shared_ptr<Authenticator> authenticator;
  TokenCache* token_cache = nullptr;       // owned by the chain; nullptr without token authenticators
  std::shared_ptr<Issuers> issuers;        // owned by the chain; nullptr if issuers can't be configured
  std::vector<std::string> api_audiences;  // of this API server
};
/// Builds the authenticators that the options enable, in the order of kube-apiserver. `token_signer` is nullptr without
/// an external signer of service-account tokens. Throws std::runtime_error if the options are invalid.
AuthenticatorChain BuildAuthenticatorChain(const AuthenticationOptions& options, std::shared_ptr<TokenObjects> objects,
                                           const Clock& clock, service::Metrics& metrics,
                                           std::shared_ptr<externaljwt::Signer> token_signer = nullptr);

/// Binds the options of every authenticator, which are kept in `options`.
void BindAuthenticators(flags::OptionSet& options, flags::Binder& flags);

}  // namespace apimesh::authn_authz
