#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "lib/codec/codec.h"

namespace {

// As in Go, -0e1 is a real number that is written as -0, which is a whole number, 0, when it is read: that one value needs a
// second round.
bool HasNegativeZero(const apimesh::meta::json::value& value) {
  if (value.is_double()) return value.get_double() == 0 && std::signbit(value.get_double());
  if (value.is_array()) return std::ranges::any_of(value.get_array(), HasNegativeZero);
  return value.is_object() && std::ranges::any_of(value.get_object(), [](const auto& member) { return HasNegativeZero(member.value()); });
}

}  // namespace

// What parses must survive writing and parsing again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh;
  codec::Strictness strict;
  const auto value = codec::ParseJson({reinterpret_cast<const char*>(data), size}, meta::NewArena(), &strict);
  if (!value) return 0;
  std::string text = codec::WriteJson(*value);
  auto again = codec::ParseJson(text, meta::NewArena());
  if (again && HasNegativeZero(*value)) {
    text = codec::WriteJson(*again);
    again = codec::ParseJson(text, meta::NewArena());
  }
  if (!again || codec::WriteJson(*again) != text) std::abort();
  return 0;
}
