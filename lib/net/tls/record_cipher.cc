#include "lib/net/tls/record_cipher.h"

#include <cstring>
#include <string>

#include <openssl/crypto.h>

#if defined(__x86_64__)
#define NO_COMPAT_IMB_API_053  // its old names conflict with those of OpenSSL
#include <intel-ipsec-mb.h>

namespace apimesh::net {
namespace {

constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kHeaderBytes = 5;
constexpr std::size_t kJoinedBelow = 512;                   // smaller pieces are joined; a larger piece justifies a
                                                            // separate call
constexpr unsigned char kVersionHigh = 3, kVersionLow = 3;  // TLS 1.3 records carry the version of TLS 1.2

}  // namespace

/// The functions for one key size.
struct RecordCipher::Suite {
  aes_gcm_pre_t expand = nullptr;
  aes_gcm_init_t begin = nullptr;
  aes_gcm_enc_dec_update_t update = nullptr;
  aes_gcm_enc_dec_finalize_t finish = nullptr;

  /// nullptr if the key size or the processor is not supported.
  static const Suite* For(std::size_t key_bytes) {
    struct Suites {
      Suite short_keys, long_keys;
      bool supported = false;
    };
    static const Suites suites = [] {
      Suites found;
      IMB_MGR* const manager = alloc_mb_mgr(0);
      if (manager == nullptr) return found;
      init_mb_mgr_auto(manager, nullptr);
      found.supported =
          (manager->features & IMB_FEATURE_AESNI) != 0 && (manager->features & IMB_FEATURE_PCLMULQDQ) != 0;
      found.short_keys = {manager->gcm128_pre, manager->gcm128_init, manager->gcm128_enc_update,
                          manager->gcm128_enc_finalize};
      found.long_keys = {manager->gcm256_pre, manager->gcm256_init, manager->gcm256_enc_update,
                         manager->gcm256_enc_finalize};
      free_mb_mgr(manager);  // frees megabytes for job queues, which are not used; the functions do not need them
      return found;
    }();
    if (!suites.supported) return nullptr;
    return key_bytes == 16 ? &suites.short_keys : key_bytes == 32 ? &suites.long_keys : nullptr;
  }
};

struct alignas(64) RecordCipher::Key {
  gcm_key_data expanded;
  ~Key() { OPENSSL_cleanse(&expanded, sizeof(expanded)); }
};

bool RecordCipher::Supported() { return Suite::For(16) != nullptr; }

std::unique_ptr<RecordCipher> RecordCipher::New(std::string_view key, std::string_view iv, std::uint64_t sequence) {
  const Suite* const suite = Suite::For(key.size());
  if (suite == nullptr || iv.size() != kIvBytes) return nullptr;
  return std::unique_ptr<RecordCipher>(new RecordCipher(*suite, key, iv, sequence));
}

RecordCipher::RecordCipher(const Suite& suite, std::string_view key, std::string_view iv, std::uint64_t sequence)
    : suite_(suite), sequence_(sequence), key_(std::make_unique<Key>()) {
  std::memcpy(iv_.data(), iv.data(), iv.size());
  suite_.expand(key.data(), &key_->expanded);
}

RecordCipher::~RecordCipher() { OPENSSL_cleanse(iv_.data(), iv_.size()); }

std::size_t RecordCipher::Seal(unsigned char type, std::span<const std::string_view> pieces, char* out) {
  std::size_t size = 1 + kTagBytes;
  for (const std::string_view piece : pieces) size += piece.size();
  const unsigned char header[kHeaderBytes] = {kApplicationData, kVersionHigh, kVersionLow,
                                              static_cast<unsigned char>(size >> 8), static_cast<unsigned char>(size)};
  std::memcpy(out, header, sizeof(header));
  // The nonce is derived from the record number, so no nonce is used twice.
  unsigned char nonce[kIvBytes];
  std::memcpy(nonce, iv_.data(), sizeof(nonce));
  for (std::size_t i = 0; i < sizeof(sequence_); ++i)
    nonce[kIvBytes - 1 - i] ^= static_cast<unsigned char>(sequence_ >> (8 * i));
  ++sequence_;

  gcm_context_data state;
  suite_.begin(&key_->expanded, &state, nonce, header, sizeof(header));
  auto* to = reinterpret_cast<unsigned char*>(out) + sizeof(header);
  const auto add = [&](const void* bytes, std::size_t count) {
    suite_.update(&key_->expanded, &state, to, static_cast<const unsigned char*>(bytes), count);
    to += count;
  };
  char joined[4 * kJoinedBelow];  // short pieces such as commas and braces, and the type at the end
  std::size_t held = 0;
  for (const std::string_view piece : pieces) {
    if (held > 0 && (piece.size() >= kJoinedBelow || held + piece.size() >= sizeof(joined))) {
      add(joined, held);
      held = 0;
    }
    if (piece.size() >= kJoinedBelow) {
      add(piece.data(), piece.size());
    } else {
      std::memcpy(joined + held, piece.data(), piece.size());
      held += piece.size();
    }
  }
  joined[held++] = static_cast<char>(type);
  add(joined, held);
  suite_.finish(&key_->expanded, &state, to, kTagBytes);
  return kHeaderBytes + size;
}

}  // namespace apimesh::net

#else  // another processor: OpenSSL makes the records

namespace apimesh::net {

struct RecordCipher::Suite {};
struct RecordCipher::Key {};
bool RecordCipher::Supported() { return false; }
std::unique_ptr<RecordCipher> RecordCipher::New(std::string_view, std::string_view, std::uint64_t) { return nullptr; }
RecordCipher::~RecordCipher() = default;
std::size_t RecordCipher::Seal(unsigned char, std::span<const std::string_view>, char*) { return 0; }

}  // namespace apimesh::net

#endif
