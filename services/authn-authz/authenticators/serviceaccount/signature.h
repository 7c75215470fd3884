#pragma once

#include "lib/credentials/jwt.h"
#include "services/authn-authz/authenticators/serviceaccount/serviceaccount.h"

namespace apimesh::authn_authz {

/// A token with verified issuer, signature and audiences.
struct SignedToken {
  credentials::Jwt jwt;
  std::vector<std::string> audiences;
};
/// Verifies a token. Returns nullopt if it is not a token of these issuers. `options` and `issuers` must live until it
/// returns.
Task<meta::Result<std::optional<SignedToken>>> CheckSignature(const ServiceAccountOptions& options,
                                                              const std::vector<std::string>& issuers,
                                                              TokenQuestionPtr question);

}  // namespace apimesh::authn_authz
