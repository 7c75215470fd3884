#include "lib/net/tls/traffic_secret.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace apimesh::net {
namespace {

constexpr std::size_t kSha256Bytes = 32;
constexpr std::size_t kIvBytes = 12;

/// HKDF-Expand-Label without a context. One block of the hash is always sufficient.
std::string Expand(std::string_view secret, std::string_view label, std::size_t size) {
  const std::string full = "tls13 " + std::string(label);
  std::string info;
  info += static_cast<char>(size >> 8);
  info += static_cast<char>(size);
  info += static_cast<char>(full.size());
  info += full;
  info += '\0';    // no context
  info += '\x01';  // the first block
  unsigned char block[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  HMAC(secret.size() == kSha256Bytes ? EVP_sha256() : EVP_sha384(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(info.data()), info.size(), block, &length);
  std::string out(reinterpret_cast<char*>(block), size);
  OPENSSL_cleanse(block, sizeof(block));
  return out;
}

}  // namespace

std::string TrafficKey(std::string_view secret) {
  return Expand(secret, "key", secret.size() == kSha256Bytes ? 16 : 32);
}
std::string TrafficIv(std::string_view secret) { return Expand(secret, "iv", kIvBytes); }
std::string NextTrafficSecret(std::string_view secret) { return Expand(secret, "traffic upd", secret.size()); }

}  // namespace apimesh::net
