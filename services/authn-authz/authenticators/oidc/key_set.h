#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/credentials/jwt.h"
#include "lib/http/client.h"

namespace apimesh::authn_authz {

/// The signing keys that an issuer publishes, found by OpenID discovery. Thread-safe.
class KeySet final {
 public:
  /// The discovery document at `discovery_url` must name `issuer`.
  KeySet(std::string issuer, std::string discovery_url, std::unique_ptr<http::Client> client, const Clock& clock);
  /// Whether one of the keys signed this token. If none did, the keys are fetched again, at most once per second, so
  /// that rotated keys are found. The error explains why there are no keys.
  Task<meta::Result<bool>> Verifies(std::shared_ptr<const credentials::Jwt> token);
  /// Fetches the keys, so that the first token need not wait.
  Task<meta::Result<>> Load();

 private:
  struct Key {
    std::string id;
    credentials::PublicKey key;
  };
  using Keys = std::vector<Key>;

  bool Knows(const credentials::Jwt& token);
  Task<meta::Result<>> Refresh();
  Task<meta::Result<Keys>> Fetch();
  Task<meta::Result<boost::json::object>> Get(std::string url);

  const std::string issuer_, discovery_url_;
  const std::unique_ptr<http::Client> client_;
  const Clock& clock_;
  std::mutex mutex_;
  std::shared_ptr<const Keys> keys_;           // guarded by mutex_; nullptr until the first successful fetch
  bool fetching_ = false;                      // guarded by mutex_
  SteadyTime next_fetch_ = SteadyTime::min();  // guarded by mutex_
  meta::ApiError problem_;                     // guarded by mutex_
};

}  // namespace apimesh::authn_authz
