#include <cstdlib>

#include "lib/codec/codec.h"

// What parses must survive writing and parsing again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh;
  codec::Strictness strict;
  const auto value = codec::ParseJson({reinterpret_cast<const char*>(data), size}, meta::NewArena(), &strict);
  if (!value) return 0;
  const std::string text = codec::WriteJson(*value);
  const auto again = codec::ParseJson(text, meta::NewArena());
  if (!again || codec::WriteJson(*again) != text) std::abort();
  return 0;
}
