#include "services/authn-authz/authenticators/serviceaccount/signature.h"

#include "lib/meta/errors/field_error.h"

namespace apimesh::authn_authz {
namespace {

std::string QuotedList(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const std::string& value : values) quoted.push_back(meta::Quoted(value));
  return fmt::format("[{}]", fmt::join(quoted, " "));
}

}  // namespace

Task<meta::Result<std::optional<SignedToken>>> CheckSignature(const ServiceAccountOptions& options,
                                                              const std::vector<std::string>& issuers,
                                                              TokenQuestionPtr question) {
  std::optional<credentials::Jwt> jwt = credentials::Jwt::Parse(question->token);
  if (!jwt || std::find(issuers.begin(), issuers.end(), jwt->Issuer()) == issuers.end()) {
    co_return std::optional<SignedToken>();
  }
  const std::vector<credentials::PublicKey> keys = co_await options.keys->Find(jwt->KeyId());
  if (keys.empty()) co_return BadCredential("invalid signature, no keys found");
  const auto verifies = [&](const credentials::PublicKey& key) { return jwt->Verify(key); };
  if (std::none_of(keys.begin(), keys.end(), verifies)) {
    co_return BadCredential("square/go-jose: error in cryptographic primitive");
  }

  std::optional<std::vector<std::string>> token_audiences = jwt->Audiences();
  if (!token_audiences) co_return BadCredential("token audiences have the wrong type");
  if (token_audiences->empty()) token_audiences = options.api_audiences;
  const std::vector<std::string>& wanted = question->audiences.empty() ? options.api_audiences : question->audiences;
  std::vector<std::string> audiences = IntersectAudiences(*token_audiences, wanted);
  if (audiences.empty() && !options.api_audiences.empty()) {
    co_return BadCredential(fmt::format("token audiences {} is invalid for the target audiences {}",
                                        QuotedList(*token_audiences), QuotedList(wanted)));
  }
  SignedToken token{std::move(*jwt), std::move(audiences)};
  co_return std::optional(std::move(token));
}

}  // namespace apimesh::authn_authz
