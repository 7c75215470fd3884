#include <cstdlib>

#include "lib/codec/codec.h"
#include "lib/meta/equal.h"

// The parser must survive any input. A parsed document must not change when it is written and parsed again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  codec::Strictness strict;
  const auto value = codec::ParseYaml(text, meta::NewArena(), &strict);
  const auto lenient = codec::ParseYaml(text, meta::NewArena(), nullptr);
  if (value.has_value() && !lenient.has_value()) std::abort();
  if (!value) return 0;
  const auto again = codec::ParseYaml(codec::WriteYaml(*value), meta::NewArena());
  if (again && !meta::Equal(*again, *value)) std::abort();
  return 0;
}
