#pragma once

#include <bit>
#include <cstdint>

namespace apimesh {

struct SipKey {
  std::uint64_t low = 0, high = 0;
};
/// A key that is random in each process and is never written anywhere.
const SipKey& ProcessSipKey();

/// The state of SipHash, on which KeyedHash and SeededHash are based.
struct SipState {
  std::uint64_t v0, v1, v2, v3;

  explicit SipState(const SipKey& key)
      : v0(key.low ^ 0x736f6d6570736575),
        v1(key.high ^ 0x646f72616e646f6d),
        v2(key.low ^ 0x6c7967656e657261),
        v3(key.high ^ 0x7465646279746573) {}

  void Rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
  }
  void Absorb(std::uint64_t word, int rounds) {
    v3 ^= word;
    Rounds(rounds);
    v0 ^= word;
  }
  std::uint64_t Output() const { return v0 ^ v1 ^ v2 ^ v3; }
};

}  // namespace apimesh
