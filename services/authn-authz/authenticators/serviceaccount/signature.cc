#include "services/authn-authz/authenticators/serviceaccount/signature.h"

#include "lib/meta/field_error.h"

namespace apimesh::authn_authz {
namespace {

std::string QuotedList(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const std::string& value : values) quoted.push_back(meta::Quoted(value));
  return fmt::format("[{}]", fmt::join(quoted, " "));
}

}  // namespace

meta::Result<std::optional<SignedToken>> CheckSignature(const ServiceAccountOptions& options,
                                                        const std::vector<std::string>& issuers, const TokenQuestion& question) {
  std::optional<auth::Jwt> jwt = auth::Jwt::Parse(question.token);
  if (!jwt || std::find(issuers.begin(), issuers.end(), jwt->Issuer()) == issuers.end()) {
    return std::optional<SignedToken>();
  }
  bool known_key = false, good = false;
  for (const auth::PublicKey& key : options.keys) {
    if (!jwt->KeyId().empty() && jwt->KeyId() != key.KeyId()) continue;
    known_key = true;
    if (jwt->Verify(key)) {
      good = true;
      break;
    }
  }
  if (!known_key) return BadCredential("invalid signature, no keys found");
  if (!good) return BadCredential("square/go-jose: error in cryptographic primitive");

  std::optional<std::vector<std::string>> token_audiences = jwt->Audiences();
  if (!token_audiences) return BadCredential("token audiences have the wrong type");
  if (token_audiences->empty()) token_audiences = options.api_audiences;
  const std::vector<std::string>& wanted = question.audiences.empty() ? options.api_audiences : question.audiences;
  std::vector<std::string> audiences = IntersectAudiences(*token_audiences, wanted);
  if (audiences.empty() && !options.api_audiences.empty()) {
    return BadCredential(fmt::format("token audiences {} is invalid for the target audiences {}",
                                     QuotedList(*token_audiences), QuotedList(wanted)));
  }
  return std::optional(SignedToken{std::move(*jwt), std::move(audiences)});
}

}  // namespace apimesh::authn_authz
