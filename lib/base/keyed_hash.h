#pragma once

#include <cstdint>
#include <string_view>

#include "lib/base/sip_hash.h"

namespace apimesh {

/// 128 bits that stand for a longer text, for example as the key of a cache.
struct Digest {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Digest&) const = default;
};
struct DigestHash {
  std::size_t operator()(const Digest& digest) const { return digest.low; }
};

/// SipHash-2-4 with 128 bits of output. Without the key nobody can find two inputs with the same digest, so a digest
/// can replace an input that a client has chosen, of any length, even where a collision would give away a permission.
class KeyedHash {
 public:
  explicit KeyedHash(const SipKey& key = ProcessSipKey());

  /// Adds a part. Parts are kept apart: "ab" and "c" give another digest than "a" and "bc".
  void Add(std::string_view part);
  /// Adds a number. Where parts of variable number follow each other, their counts keep them apart.
  void AddNumber(std::uint64_t number) { Absorb(number); }
  /// Ends the input. The object must not be used afterwards.
  Digest Finish();

 private:
  void Absorb(std::uint64_t word);

  SipState state_;
  std::uint64_t words_ = 0;
};

}  // namespace apimesh
