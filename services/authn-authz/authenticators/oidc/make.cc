#include "services/authn-authz/authenticators/oidc/make.h"

#include "services/authn-authz/authenticators/union.h"

namespace apimesh::authn_authz {
namespace {

/// Forwards to a shared authenticator. The chain owns its authenticators, but the issuers are also used by the code
/// that replaces them when the configuration changes.
class SharedLink final : public TokenAuthenticator {
 public:
  explicit SharedLink(std::shared_ptr<TokenAuthenticator> inner) : inner_(std::move(inner)) {}
  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override {
    return inner_->AuthenticateToken(std::move(question));
  }

 private:
  const std::shared_ptr<TokenAuthenticator> inner_;
};

}  // namespace

std::unique_ptr<TokenAuthenticator> MakeOidc(const AuthenticatorInputs& inputs) {
  if (!inputs.issuers) return nullptr;
  return NewAudienceAgnosticToken(inputs.audiences, std::make_unique<SharedLink>(inputs.issuers));
}

}  // namespace apimesh::authn_authz
