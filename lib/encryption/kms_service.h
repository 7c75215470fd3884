#pragma once

#include <map>
#include <memory>
#include <string>

#include "lib/encryption/config.h"

namespace apimesh::encryption {

/// The calls of a KMS v2 plugin. Every call ends by the timeout of its configuration.
class KmsService {
 public:
  using Annotations = std::map<std::string, std::string>;
  struct Status {
    std::string version, healthz, key_id;
  };
  struct Encrypted {
    std::string ciphertext, key_id;
    Annotations annotations;
  };

  virtual ~KmsService() = default;
  virtual Task<Result<Status>> GetStatus() = 0;
  virtual Task<Result<Encrypted>> Encrypt(std::string uid, std::string plaintext) = 0;
  virtual Task<Result<std::string>> Decrypt(std::string uid, Encrypted encrypted) = 0;
};

/// Connects to the plugin at the Unix socket of `config`.
std::shared_ptr<KmsService> NewKmsService(const KmsConfig& config, const Clock& clock);

}  // namespace apimesh::encryption
