#pragma once

#include <cstddef>
#include <string_view>

namespace apimesh {

/// A hash of client-supplied text for unordered containers: SipHash-1-3 with a key that is random in each process.
/// std::hash has a fixed seed, so a client could send 100,000 keys that all have the same hash.
struct SeededHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const;
};

}  // namespace apimesh
