#include "lib/base/hash/seeded_hash.h"

#include <cstring>

#include "lib/base/hash/sip_hash.h"

namespace apimesh {

std::size_t SeededHash::operator()(std::string_view text) const {
  SipState state(ProcessSipKey());
  std::uint64_t last = static_cast<std::uint64_t>(text.size()) << 56;
  while (text.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    state.Absorb(word, 1);
    text.remove_prefix(sizeof word);
  }
  std::uint64_t rest = 0;
  if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
  state.Absorb(last | rest, 1);
  state.v2 ^= 0xff;
  state.Rounds(3);
  return state.Output();
}

}  // namespace apimesh
