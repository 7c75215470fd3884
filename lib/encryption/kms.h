#pragma once

#include <map>
#include <mutex>

#include "lib/encryption/kms_service.h"

namespace apimesh::encryption {

/// Values sealed with keys that a KMS v2 plugin guards. The plugin encrypts one random seed at a time (again when its key
/// id changes); each value gets a key derived from that seed, so no write asks the plugin. Seeds that were decrypted are kept.
class Kms final : public Transformer, public std::enable_shared_from_this<Kms> {
 public:
  Kms(std::string name, std::shared_ptr<KmsService> service, const Clock& clock = Clock::System())
      : name_(std::move(name)), service_(std::move(service)), clock_(clock) {}

  Result<std::string> Seal(std::string_view plain, std::string_view key) const override;
  Result<Opened> Open(std::string_view stored, std::string_view key) const override;
  bool Locked(std::string_view stored) const override;
  Task<Result<>> Unlock(std::string stored) const override;
  Task<Result<>> PrepareSeal() const override;

  /// Asks the plugin how it is, and takes a new seed if its key id has changed. To be called every minute, every 10 s
  /// after a failure: without success, writes stop after 3 minutes; reads of known seeds go on.
  Task<Result<>> Check() const;
  /// Of the last Check(); empty: fine.
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
  mutable std::shared_ptr<const Seed> seed_;      // guarded by mutex_
  mutable std::map<std::string, Kept> kept_;      // by the encrypted form; guarded by mutex_
  mutable std::string version_;                   // of the plugin's API, as it first said; guarded by mutex_
  mutable std::string problem_ = "not asked yet";  // guarded by mutex_
};

}  // namespace apimesh::encryption
