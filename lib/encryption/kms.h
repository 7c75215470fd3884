#pragma once

#include <map>
#include <mutex>

#include "lib/encryption/kms_service.h"

namespace apimesh::encryption {

/// Encrypts values with keys that a KMS v2 plugin protects. The plugin encrypts one random seed, and a new one when its
/// key id changes. Each value gets a key that is derived from the seed, so no write calls the plugin. Decrypted seeds
/// are cached.
class Kms final : public Transformer, public std::enable_shared_from_this<Kms> {
 public:
  Kms(std::string name, std::shared_ptr<KmsService> service, const Clock& clock)
      : name_(std::move(name)), service_(std::move(service)), clock_(clock) {}

  Result<std::string> Seal(std::string_view plain, std::string_view key) const override;
  Result<Opened> Open(std::string_view stored, std::string_view key) const override;
  bool NeedsKeyFetch(std::string_view stored) const override;
  Task<Result<>> FetchKey(std::string stored) const override;
  Task<Result<>> PrepareSeal() const override;

  /// Asks the plugin for its status and creates a new seed if its key id has changed. Must be called every minute, and
  /// every 10 s after a failure. Without a success for 3 minutes writes fail; reads with cached seeds continue.
  Task<Result<>> Check() const;
  /// The error of the last Check(); empty if it succeeded.
  std::string Problem() const;
  const std::string& Name() const { return name_; }

 private:
  struct Seed {
    TransformerPtr cipher;
    KmsService::Encrypted encrypted;
    SteadyTime expires;
  };
  struct Kept {
    TransformerPtr cipher;
    SteadyTime last_used;
  };
  Task<Result<>> CheckNow() const;
  TransformerPtr Known(const std::string& cache_key) const;
  void Keep(const std::string& cache_key, TransformerPtr cipher) const;

  const std::string name_;
  const std::shared_ptr<KmsService> service_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Seed> seed_;       // guarded by mutex_
  mutable std::map<std::string, Kept> kept_;       // by encrypted seed; guarded by mutex_
  mutable std::string version_;                    // the API version that the plugin reported first; guarded by mutex_
  mutable std::string problem_ = "not asked yet";  // guarded by mutex_
};

}  // namespace apimesh::encryption
