#pragma once

#include <atomic>

#include "services/authn-authz/authenticators/oidc/oidc.h"

namespace apimesh::authn_authz {

/// All trusted issuers; they can be replaced while tokens are looked at. Thread-safe.
class Issuers final : public TokenAuthenticator {
 public:
  Issuers(const std::vector<OidcOptions>& options, const Clock& clock);

  Task<Answer> AuthenticateToken(TokenQuestionPtr question) override;
  /// Takes the new ones once the keys of all of them are there; ServiceUnavailable, and all stays as it was, if one is
  /// not.
  Task<meta::Result<>> Replace(std::vector<OidcOptions> options);

 private:
  const Clock& clock_;
  std::atomic<std::shared_ptr<TokenAuthenticator>> current_;
};

}  // namespace apimesh::authn_authz
