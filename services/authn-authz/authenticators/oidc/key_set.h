#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/auth/jwt.h"
#include "lib/base/task.h"
#include "lib/http/client.h"

namespace apimesh::authn_authz {

/// The keys an issuer publishes. Thread-safe.
class KeySet {
 public:
  virtual ~KeySet() = default;
  /// Whether one of the keys signed this token. A key that is not known makes it look again, at most once a second: that
  /// is how a rotation is noticed. The error says why there are no keys.
  virtual Task<meta::Result<bool>> Verifies(std::shared_ptr<const auth::Jwt> token) = 0;
  /// Looks them up now, so that the first token need not wait for it.
  virtual Task<meta::Result<>> Load() = 0;
};

/// Found by OpenID discovery at `discovery_url`; the document must name `issuer`.
std::unique_ptr<KeySet> NewRemoteKeySet(std::string issuer, std::string discovery_url, std::unique_ptr<http::Client> client,
                                        const Clock& clock);

}  // namespace apimesh::authn_authz
