#include "lib/base/hash/sip_hash.h"

#include <cstring>
#include <stdexcept>

#include <openssl/rand.h>

namespace apimesh {
namespace {

SipKey RandomKey() {
  unsigned char bytes[sizeof(SipKey)];
  if (RAND_bytes(bytes, sizeof bytes) != 1) throw std::runtime_error("no random bytes");
  SipKey key;
  std::memcpy(&key, bytes, sizeof key);
  return key;
}

}  // namespace

const SipKey& ProcessSipKey() {
  static const SipKey key = RandomKey();
  return key;
}

}  // namespace apimesh
