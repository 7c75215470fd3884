#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "lib/codec/codec.h"
#include "lib/codec/json_parts.h"

namespace {

// As in Go, -0e1 is a real number that is written as -0, which is a whole number, 0, when it is read: that one value needs a
// second round.
bool HasNegativeZero(const apimesh::meta::json::value& value) {
  if (value.is_double()) return value.get_double() == 0 && std::signbit(value.get_double());
  if (value.is_array()) return std::ranges::any_of(value.get_array(), HasNegativeZero);
  return value.is_object() && std::ranges::any_of(value.get_object(), [](const auto& member) { return HasNegativeZero(member.value()); });
}

}  // namespace

// What parses must survive writing and parsing again, and parses in parts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  codec::Strictness strict;
  const auto value = codec::ParseJson(input, meta::NewArena(), &strict);
  static const meta::FieldMask kSome{"a", "b.c", "metadata.name"};
  const auto parts = codec::ParseJsonParts(input, kSome, meta::NewArena());
  const auto raw = codec::RawField(input, "a");
  if (!value) return 0;
  if (!parts || (raw && !codec::ParseJson(*raw, meta::NewArena()))) std::abort();
  std::string text = codec::WriteJson(*value);
  auto again = codec::ParseJson(text, meta::NewArena());
  if (again && HasNegativeZero(*value)) {
    text = codec::WriteJson(*again);
    again = codec::ParseJson(text, meta::NewArena());
  }
  if (!again || codec::WriteJson(*again) != text) std::abort();
  return 0;
}
