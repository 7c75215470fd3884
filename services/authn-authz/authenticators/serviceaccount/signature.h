#pragma once

#include "lib/auth/jwt.h"
#include "services/authn-authz/authenticators/serviceaccount/serviceaccount.h"

namespace apimesh::authn_authz {

/// A token whose issuer, signature and audiences are right.
struct SignedToken {
  auth::Jwt jwt;
  std::vector<std::string> audiences;
};
/// nullopt: not a token of these issuers.
meta::Result<std::optional<SignedToken>> CheckSignature(const ServiceAccountOptions& options,
                                                        const std::vector<std::string>& issuers, const TokenQuestion& question);

}  // namespace apimesh::authn_authz
