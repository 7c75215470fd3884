#pragma once

#include <atomic>

#include "services/authn-authz/authenticators/oidc/oidc.h"

namespace apimesh::authn_authz {

/// All trusted issuers. They can be replaced while tokens are being authenticated. Thread-safe.
class Issuers final : public TokenAuthenticator {
 public:
  Issuers(const std::vector<OidcOptions>& options, const Clock& clock);

  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override;
  /// Replaces the issuers after the keys of all new ones are loaded. If that fails for one of them, returns
  /// ServiceUnavailable and keeps the current issuers.
  Task<meta::Result<>> Replace(std::vector<OidcOptions> options);

 private:
  const Clock& clock_;
  std::atomic<std::shared_ptr<TokenAuthenticator>> current_;
};

}  // namespace apimesh::authn_authz
