#pragma once

#include "lib/externaljwt/signer.h"
#include "lib/service/metrics.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/oidc/issuers.h"
#include "services/authn-authz/config/options.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz {

/// The inputs of an authenticator's factory. The factory returns nullptr if the options do not enable the
/// authenticator, and throws std::runtime_error if they are invalid.
struct AuthenticatorInputs {
  const AuthenticationOptions& options;
  std::vector<std::string> audiences;     // of this API server
  std::shared_ptr<Issuers> issuers;       // JWT issuers of flags or --authentication-config; nullptr: not configurable
  std::shared_ptr<TokenObjects> objects;  // Secrets, ServiceAccounts and other objects that tokens refer to
  const Clock& clock;
  std::shared_ptr<externaljwt::Signer> token_signer;  // of service-account tokens; nullptr: the keys are in files
  service::Metrics* metrics = nullptr;                // nullptr: nothing is counted

  /// The options that the authenticator's folder declares.
  template <class Flags>
  const Flags& Get() const {
    return options.extensions.Get<Flags>();
  }
};

}  // namespace apimesh::authn_authz
