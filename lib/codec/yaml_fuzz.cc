#include <cstdlib>

#include "lib/codec/codec.h"

// Reading and writing must survive anything.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh;
  codec::Strictness strict;
  const auto value = codec::ParseYaml({reinterpret_cast<const char*>(data), size}, meta::NewArena(), &strict);
  if (!value) return 0;
  (void)codec::WriteYaml(*value);
  return 0;
}
