#include "lib/encryption/kms.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include "lib/base/hash/hex.h"
#include "lib/base/wipe.h"
#include "lib/encryption/ciphers.h"
#include "lib/meta/uuid.h"
#include "proto/kms/v2/kms.pb.h"

namespace apimesh::encryption {
namespace {

constexpr std::chrono::minutes kSealTtl{3};
constexpr std::chrono::hours kKeep{24};
constexpr std::size_t kSeedBytes = 32, kMaxKeyId = 1024, kMaxSource = 1024, kMaxAnnotations = 32 * 1024;

std::string HashOf(const std::string& key_id) {
  if (key_id.empty()) return {};
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(key_id.data()), key_id.size(), digest);
  return "sha256:" + Hex(digest);
}

bool IsDomainName(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty() || name.size() > 253 || name.find('.') == std::string_view::npos) return false;
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  while (true) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const std::string_view label = name.substr(0, dot);
    if (label.empty() || !alphanumeric(label.front()) || !alphanumeric(label.back())) return false;
    for (const char c : label) {
      if (!alphanumeric(c) && c != '-') return false;
    }
    if (dot == name.size()) return true;
    name.remove_prefix(dot + 1);
  }
}

/// Returns why the response cannot be stored; empty if it can.
std::string WhyBad(const KmsService::Encrypted& source) {
  if (source.ciphertext.empty()) return "failed to validate encrypted DEK source: encrypted DEK source is empty";
  if (source.ciphertext.size() > kMaxSource) {
    return fmt::format(
        "failed to validate encrypted DEK source: encrypted DEK source is {} bytes, which exceeds the max size of {}",
        source.ciphertext.size(), kMaxSource);
  }
  if (source.key_id.empty()) return "failed to validate key id: keyID is empty";
  if (source.key_id.size() > kMaxKeyId) {
    return fmt::format("failed to validate key id: keyID is {} bytes, which exceeds the max size of {}",
                       source.key_id.size(), kMaxKeyId);
  }
  std::size_t size = 0;
  for (const auto& [key, value] : source.annotations) {
    if (!IsDomainName(key))
      return fmt::format("failed to validate annotations: {} is no fully qualified domain name", key);
    size += key.size() + value.size();
  }
  if (size > kMaxAnnotations) {
    return fmt::format(
        "failed to validate annotations: total size of annotations is {}, which exceeds the max size of {}", size,
        kMaxAnnotations);
  }
  return {};
}

KmsService::Encrypted SourceOf(const v2::EncryptedObject& object) {
  KmsService::Encrypted source{object.encrypteddeksource(), object.keyid()};
  source.annotations.insert(object.annotations().begin(), object.annotations().end());
  return source;
}

Result<v2::EncryptedObject> Decode(std::string_view stored) {
  v2::EncryptedObject object;
  if (!object.ParseFromArray(stored.data(), static_cast<int>(stored.size())))
    return Fail("the stored data is no EncryptedObject");
  if (!v2::EncryptedDEKSourceType_IsValid(object.encrypteddeksourcetype())) {
    return Fail(fmt::format("unknown encryptedDEKSourceType: {}", static_cast<int>(object.encrypteddeksourcetype())));
  }
  if (object.encrypteddata().empty()) return Fail("encrypted data is empty");
  if (const std::string why = WhyBad(SourceOf(object)); !why.empty()) return Fail(why);
  return object;
}

/// Returns a key that is unique for an encrypted seed, whatever bytes its parts contain.
std::string CacheKey(int type, const KmsService::Encrypted& source) {
  std::string key = fmt::format("{}:{}:{}{}:{}", type, source.ciphertext.size(), source.ciphertext,
                                source.key_id.size(), source.key_id);
  for (const auto& [name, value] : source.annotations)
    key += fmt::format("{}:{}{}:{}", name.size(), name, value.size(), value);
  return key;
}

}  // namespace

TransformerPtr Kms::Known(const std::string& cache_key) const {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(cache_key);
  if (found == kept_.end()) return nullptr;
  found->second.last_used = clock_.Steady();
  return found->second.cipher;
}

void Kms::Keep(const std::string& cache_key, TransformerPtr cipher) const {
  const SteadyTime now = clock_.Steady();
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_, [now](const auto& kept) { return kept.second.last_used + kKeep < now; });
  kept_[cache_key] = {std::move(cipher), now};
}

Result<std::string> Kms::Seal(std::string_view plain, std::string_view key) const {
  std::shared_ptr<const Seed> seed;
  std::string problem;
  {
    const std::lock_guard lock(mutex_);
    seed = seed_;
    problem = problem_;
  }
  if (!seed) return Fail(fmt::format("KMS provider {} gave no key yet: {}", name_, problem), true);
  if (clock_.Steady() > seed->expires) {
    return Fail(
        fmt::format("encryptedDEKSource with keyID hash \"{}\" expired: {}", HashOf(seed->encrypted.key_id), problem),
        true);
  }
  ASSIGN_OR_RETURN(std::string sealed, seed->cipher->Seal(plain, key));
  v2::EncryptedObject object;
  object.set_encrypteddata(std::move(sealed));
  object.set_keyid(seed->encrypted.key_id);
  object.set_encrypteddeksource(seed->encrypted.ciphertext);
  object.mutable_annotations()->insert(seed->encrypted.annotations.begin(), seed->encrypted.annotations.end());
  object.set_encrypteddeksourcetype(v2::HKDF_SHA256_XNONCE_AES_GCM_SEED);
  return object.SerializeAsString();
}

Result<Opened> Kms::Open(std::string_view stored, std::string_view key) const {
  ASSIGN_OR_RETURN(const v2::EncryptedObject object, Decode(stored));
  const TransformerPtr cipher = Known(CacheKey(object.encrypteddeksourcetype(), SourceOf(object)));
  if (!cipher) return Fail("failed to decrypt DEK, error: it was not fetched", true);
  ASSIGN_OR_RETURN(Opened opened, cipher->Open(object.encrypteddata(), key));
  const std::lock_guard lock(mutex_);
  opened.stale = seed_ && (seed_->encrypted.key_id != object.keyid() ||
                           object.encrypteddeksourcetype() != v2::HKDF_SHA256_XNONCE_AES_GCM_SEED);
  return opened;
}

bool Kms::NeedsKeyFetch(std::string_view stored) const {
  const auto object = Decode(stored);
  return object && !Known(CacheKey(object->encrypteddeksourcetype(), SourceOf(*object)));
}

Task<Result<>> Kms::FetchKey(std::string stored) const {
  ASSIGN_OR_CO_RETURN(const v2::EncryptedObject object, Decode(stored));
  KmsService::Encrypted source = SourceOf(object);
  const std::string cache_key = CacheKey(object.encrypteddeksourcetype(), source);
  if (Known(cache_key)) co_return Result<>();
  std::string uid = meta::NewUuid();
  Result<std::string> key = co_await service_->Decrypt(std::move(uid), std::move(source));
  if (!key) co_return Fail("failed to decrypt DEK, error: " + key.error().message, key.error().temporary);
  const bool seeded = object.encrypteddeksourcetype() == v2::HKDF_SHA256_XNONCE_AES_GCM_SEED;
  const WipeAtEnd wipe(*key);
  if (seeded ? key->size() < kSeedBytes : (key->size() != 16 && key->size() != 24 && key->size() != 32)) {
    co_return Fail(fmt::format("the plugin gave a key of {} bytes", key->size()));
  }
  Keep(cache_key, seeded ? SeededAesGcm(std::move(*key)) : AesGcm(std::move(*key)));
  co_return Result<>();
}

Task<Result<>> Kms::PrepareSeal() const {
  {
    const std::lock_guard lock(mutex_);
    if (seed_) co_return Result<>();
  }
  co_return co_await Check();
}

Task<Result<>> Kms::Check() const {
  Result<> checked = co_await CheckNow();
  const std::lock_guard lock(mutex_);
  problem_ = checked ? "" : checked.error().message;
  co_return checked;
}

Task<Result<>> Kms::CheckNow() const {
  const SteadyTime expires = clock_.Steady() + kSealTtl;  // counted from before the request
  const Result<KmsService::Status> status = co_await service_->GetStatus();
  if (!status) {
    co_return Fail(fmt::format("failed to perform status section of the healthz check for KMS Provider {}, error: {}",
                               name_, status.error().message),
                   true);
  }
  std::vector<std::string> errors;
  if (status->healthz != "ok") errors.push_back("got unexpected healthz status: " + status->healthz);
  if (status->key_id.empty() || status->key_id.size() > kMaxKeyId) {
    errors.push_back(fmt::format("got invalid KMSv2 KeyID hash \"{}\"", HashOf(status->key_id)));
  }
  std::shared_ptr<const Seed> old;
  {
    const std::lock_guard lock(mutex_);
    if (status->version != "v2" && status->version != "v2beta1") {
      errors.push_back("expected KMSv2 API version v2, got " + status->version);
    } else if (version_.empty()) {
      version_ = status->version;
    } else if (version_ != status->version) {
      errors.push_back(
          fmt::format("KMSv2 API version should not change after the initial status response version {}, got {}",
                      version_, status->version));
    }
    old = seed_;
    if (errors.empty() && old && old->encrypted.key_id == status->key_id) {
      auto longer = std::make_shared<Seed>(*old);
      longer->expires = expires;
      seed_ = std::move(longer);
      co_return Result<>();
    }
  }
  if (errors.empty()) {
    std::string secret = RandomBytes(kSeedBytes);
    const WipeAtEnd wipe(secret);
    std::string uid = meta::NewUuid();
    Result<KmsService::Encrypted> encrypted = co_await service_->Encrypt(std::move(uid), secret);
    std::string why = encrypted ? WhyBad(*encrypted) : encrypted.error().message;
    if (why.empty() && encrypted->key_id != status->key_id) why = "Encrypt used another key than Status named";
    if (why.empty()) {
      auto seed = std::make_shared<Seed>(Seed{SeededAesGcm(std::move(secret)), std::move(*encrypted), expires});
      Keep(CacheKey(v2::HKDF_SHA256_XNONCE_AES_GCM_SEED, seed->encrypted), seed->cipher);
      const std::lock_guard lock(mutex_);
      seed_ = std::move(seed);
      co_return Result<>();
    }
    errors.push_back(fmt::format("failed to rotate DEK: {}, statusKeyIDHash=\"{}\"", why, HashOf(status->key_id)));
  }
  co_return Fail(fmt::format("kmsv2 Provider {} is not healthy, error: {}", name_, Aggregate(errors)), true);
}

std::string Kms::Problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace apimesh::encryption
