#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/credentials/key.h"
#include "lib/externaljwt/signer.h"
#include "lib/registry/resource.h"
#include "services/core-api/flags.h"
#include "services/core-api/own_api.h"

namespace apimesh::core_api {

/// Signs tokens of service accounts.
struct TokenIssuer {
  std::string issuer;
  std::vector<std::string> api_audiences;
  std::optional<credentials::PrivateKey> key;  // nullopt: `signer` signs
  std::shared_ptr<externaljwt::Signer> signer;
  std::int64_t max_expiration_seconds = 0;  // 0: no limit
  std::int64_t extended_expiration_seconds = 365 * 24 * 3600;
  bool extend_expiration = true;
};
/// Returns nullopt if no issuer, and neither a key nor a signer is configured; tokens are then not issued. Throws
/// std::runtime_error if the key cannot be read, or the flags want tokens that live longer than the signer supports.
std::optional<TokenIssuer> MakeTokenIssuer(const Flags& flags, std::shared_ptr<externaljwt::Signer> signer);

/// Returns the action of serviceaccounts/token. It issues a token for the account and the requested audiences, bound to
/// a pod, secret or node if requested.
registry::Action TokenRequestAction(TokenIssuer issuer, ReadObject read, const Clock* clock);

meta::FieldErrors ValidateTokenRequest(const meta::Object& request);

}  // namespace apimesh::core_api
