#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/auth/key.h"
#include "lib/registry/resource.h"
#include "services/core-api/flags.h"

namespace apimesh::core_api {

/// Signs tokens of service accounts.
struct TokenIssuer {
  std::string issuer;
  std::vector<std::string> api_audiences;
  auth::PrivateKey key;
  std::int64_t max_expiration_seconds = 0;  // 0: no limit
  bool extend_expiration = true;
};
/// nullopt: no key or issuer is given, so there are no tokens. Throws std::runtime_error for a key that can't be read.
std::optional<TokenIssuer> MakeTokenIssuer(const Flags& flags);

/// Reads an object of this server by path.
using ReadObject = std::function<Task<meta::Result<meta::Object>>(std::string path)>;

/// serviceaccounts/token: a token for the account, bound to a pod, secret or node if asked, for the audiences asked.
registry::Action TokenRequestAction(TokenIssuer issuer, ReadObject read);

meta::FieldErrors ValidateTokenRequest(const meta::Object& request);

}  // namespace apimesh::core_api
