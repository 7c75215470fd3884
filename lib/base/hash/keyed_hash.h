#pragma once

#include <cstdint>
#include <string_view>

#include "lib/base/hash/sip_hash.h"

namespace apimesh {

/// A 128-bit digest that represents a longer text, for example as the key of a cache.
struct Digest {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Digest&) const = default;
};
struct DigestHash {
  std::size_t operator()(const Digest& digest) const { return digest.low; }
};

/// SipHash-2-4 with 128 bits of output. Two inputs with the same digest cannot be found without the key, so a digest
/// can replace a client-supplied input of any length, even where a collision would grant a permission.
class KeyedHash {
 public:
  explicit KeyedHash(const SipKey& key = ProcessSipKey());

  /// Adds a part. Parts are delimited: "ab" and "c" give a different digest than "a" and "bc".
  void Add(std::string_view part);
  /// Adds a number. If a variable number of parts follows, their count must be added to delimit them.
  void AddNumber(std::uint64_t number) { Absorb(number); }
  /// Ends the input. The object must not be used afterwards.
  Digest Finish();

 private:
  void Absorb(std::uint64_t word);

  SipState state_;
  std::uint64_t words_ = 0;
};

}  // namespace apimesh
