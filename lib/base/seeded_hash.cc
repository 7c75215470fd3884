#include "lib/base/seeded_hash.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <random>

namespace apimesh {
namespace {

struct Key {
  std::uint64_t first, second;
};

const Key& ProcessKey() {
  static const Key key = [] {
    std::random_device source;
    const auto word = [&source] { return static_cast<std::uint64_t>(source()) << 32 | source(); };
    const std::uint64_t first = word();
    return Key{first, word()};
  }();
  return key;
}

struct State {
  std::uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void Take(std::uint64_t word) {
    v3 ^= word;
    Round();
    v0 ^= word;
  }
};

}  // namespace

std::size_t SeededHash::operator()(std::string_view text) const {
  const Key& key = ProcessKey();
  State state{key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d, key.first ^ 0x6c7967656e657261,
              key.second ^ 0x7465646279746573};
  std::uint64_t last = static_cast<std::uint64_t>(text.size()) << 56;
  while (text.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    state.Take(word);
    text.remove_prefix(sizeof word);
  }
  std::uint64_t rest = 0;
  if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
  last |= rest;
  state.Take(last);
  state.v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace apimesh
