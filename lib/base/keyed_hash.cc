#include "lib/base/keyed_hash.h"

#include <openssl/rand.h>

#include <bit>
#include <cstring>
#include <stdexcept>

namespace apimesh {
namespace {

KeyedHash::Key RandomKey() {
  unsigned char bytes[sizeof(KeyedHash::Key)];
  if (RAND_bytes(bytes, sizeof bytes) != 1) throw std::runtime_error("no random bytes");
  KeyedHash::Key key;
  std::memcpy(&key, bytes, sizeof key);
  return key;
}

}  // namespace

const KeyedHash::Key& KeyedHash::ProcessKey() {
  static const Key key = RandomKey();
  return key;
}

KeyedHash::KeyedHash(const Key& key)
    : v0_(key.low ^ 0x736f6d6570736575),
      v1_(key.high ^ 0x646f72616e646f6d ^ 0xee),
      v2_(key.low ^ 0x6c7967656e657261),
      v3_(key.high ^ 0x7465646279746573) {}

void KeyedHash::Round() {
  v0_ += v1_, v1_ = std::rotl(v1_, 13) ^ v0_, v0_ = std::rotl(v0_, 32);
  v2_ += v3_, v3_ = std::rotl(v3_, 16) ^ v2_;
  v0_ += v3_, v3_ = std::rotl(v3_, 21) ^ v0_;
  v2_ += v1_, v1_ = std::rotl(v1_, 17) ^ v2_, v2_ = std::rotl(v2_, 32);
}

void KeyedHash::Absorb(std::uint64_t word) {
  v3_ ^= word;
  Round();
  Round();
  v0_ ^= word;
  ++words_;
}

// The hashed text consists of whole 64-bit words: the length of a part, then its bytes, filled up with zeros. The
// length says how many of the bytes are real, so no two sequences of parts have the same text.
void KeyedHash::Add(std::string_view part) {
  Absorb(part.size());
  while (part.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, part.data(), sizeof word);
    Absorb(word);
    part.remove_prefix(sizeof word);
  }
  if (part.empty()) return;
  std::uint64_t last = 0;
  std::memcpy(&last, part.data(), part.size());
  Absorb(last);
}

Digest KeyedHash::Finish() {
  Absorb(words_ * sizeof(std::uint64_t) << 56);  // SipHash ends with the length of the text, modulo 256
  v2_ ^= 0xee;
  for (int i = 0; i < 4; ++i) Round();
  Digest digest;
  digest.low = v0_ ^ v1_ ^ v2_ ^ v3_;
  v1_ ^= 0xdd;
  for (int i = 0; i < 4; ++i) Round();
  digest.high = v0_ ^ v1_ ^ v2_ ^ v3_;
  return digest;
}

}  // namespace apimesh
