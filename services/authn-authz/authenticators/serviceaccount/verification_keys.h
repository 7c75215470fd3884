#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/credentials/key.h"
#include "lib/externaljwt/signer.h"

namespace apimesh::authn_authz {

/// The keys that verify tokens of service accounts. Thread-safe.
class VerificationKeys {
 public:
  virtual ~VerificationKeys() = default;
  /// Returns the keys with this id, and all keys if it is empty.
  virtual Task<std::vector<credentials::PublicKey>> Find(std::string id) = 0;
};

std::shared_ptr<VerificationKeys> StaticKeys(std::vector<credentials::PublicKey> keys);
/// The keys of an external signer. An unknown key is looked up there.
std::shared_ptr<VerificationKeys> ExternalKeys(std::shared_ptr<externaljwt::Signer> signer);

}  // namespace apimesh::authn_authz
