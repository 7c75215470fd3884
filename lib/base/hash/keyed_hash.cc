#include "lib/base/hash/keyed_hash.h"

#include <cstring>

namespace apimesh {

KeyedHash::KeyedHash(const SipKey& key) : state_(key) {
  state_.v1 ^= 0xee;
}  // the variant of SipHash with 128 bits of
   // output

void KeyedHash::Absorb(std::uint64_t word) {
  state_.Absorb(word, 2);
  ++words_;
}

// The hashed text consists of complete 64-bit words: the length of a part, then its bytes, padded with zeros. The
// length determines how many bytes belong to the part, so no two sequences of parts have the same text.
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
  state_.v2 ^= 0xee;
  state_.Rounds(4);
  Digest digest;
  digest.low = state_.Output();
  state_.v1 ^= 0xdd;
  state_.Rounds(4);
  digest.high = state_.Output();
  return digest;
}

}  // namespace apimesh
