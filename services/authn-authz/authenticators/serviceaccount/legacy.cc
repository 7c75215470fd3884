#include <openssl/crypto.h>

#include "lib/credentials/service_account_token.h"
#include "lib/meta/object.h"
#include "services/authn-authz/authenticators/serviceaccount/signature.h"

namespace apimesh::authn_authz {
namespace {

class LegacyServiceAccount final : public TokenAuthenticator {
 public:
  LegacyServiceAccount(ServiceAccountOptions options, std::shared_ptr<TokenObjects> objects)
      : options_(std::move(options)), objects_(std::move(objects)) {}

  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override {
    static const std::vector<std::string> issuers{std::string(credentials::kLegacyIssuer)};
    ASSIGN_OR_CO_RETURN(std::optional<SignedToken> token, co_await CheckSignature(options_, issuers, question));
    if (!token) co_return std::optional<Authenticated>();
    const auto claim = [&](std::string_view name) {
      return std::string(meta::FindString(token->jwt.Claims(), "kubernetes.io/serviceaccount/" + std::string(name)));
    };
    const std::string ns = claim("namespace"), secret_name = claim("secret.name");
    const std::string name = claim("service-account.name"), uid = claim("service-account.uid");
    if (token->jwt.Subject().empty()) co_return BadCredential("sub claim is missing");
    if (ns.empty()) co_return BadCredential("namespace claim is missing");
    if (secret_name.empty()) co_return BadCredential("secretName claim is missing");
    if (name.empty()) co_return BadCredential("serviceAccountName claim is missing");
    if (uid.empty()) co_return BadCredential("serviceAccountUID claim is missing");
    const auto subject = credentials::SplitServiceAccountUsername(token->jwt.Subject());
    if (!subject || subject->first != ns || subject->second != name) co_return BadCredential("sub claim is invalid");

    if (options_.lookup) {
      const auto secret = co_await objects_->Get(TokenObjectKind::kSecret, ns, secret_name);
      if (!secret || secret->deleted_at) co_return BadCredential("Token has been invalidated");
      const auto copy = secret->data.find("token");
      if (copy == secret->data.end() || copy->second.size() != question->token.size() ||
          CRYPTO_memcmp(copy->second.data(), question->token.data(), question->token.size()) != 0) {
        co_return BadCredential("Token does not match server's copy");
      }
      const auto account = co_await objects_->Get(TokenObjectKind::kServiceAccount, ns, name);
      if (!account) co_return account.error();
      if (account->deleted_at) co_return BadCredential(fmt::format("ServiceAccount {}/{} has been deleted", ns, name));
      if (account->uid != uid) {
        co_return BadCredential(fmt::format("ServiceAccount UID ({}) does not match claim ({})", account->uid, uid));
      }
      objects_->NoteLegacyToken(ns, secret_name, *secret);  // also if it is refused: someone still uses it
      if (secret->marked_invalid) {
        co_return BadCredential(
            fmt::format("the token in secret {}/{} for service account {}/{} has been marked invalid. Use tokens from "
                        "the TokenRequest API or "
                        "manually created secret-based tokens, or remove the "
                        "'kubernetes.io/legacy-token-invalid-since' label from the secret "
                        "to temporarily allow use of this token",
                        ns, secret_name, ns, name));
      }
      objects_->NoteUse(secret->uid);
      objects_->NoteUse(uid);
    }
    credentials::ServiceAccountIdentity identity;
    identity.ns = ns, identity.name = name, identity.uid = uid;
    co_return std::optional(
        Authenticated{.user = credentials::ToUser(identity), .audiences = std::move(token->audiences)});
  }

 private:
  const ServiceAccountOptions options_;
  std::shared_ptr<TokenObjects> objects_;
};

}  // namespace

std::unique_ptr<TokenAuthenticator> NewLegacyServiceAccount(ServiceAccountOptions options,
                                                            std::shared_ptr<TokenObjects> objects) {
  return std::make_unique<LegacyServiceAccount>(std::move(options), std::move(objects));
}

}  // namespace apimesh::authn_authz
