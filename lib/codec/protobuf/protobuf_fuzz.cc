#include <cstdlib>

#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"

// A document that was read must not change when it is written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh;
  static const schema::Node* const nodes[] = {
      schema::Builtin().Find("io.k8s.api.core.v1.Pod"),
      schema::Builtin().Find("io.k8s.api.authorization.v1.SubjectAccessReview"),
      schema::Builtin().Find("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition")};
  if (size == 0) return 0;
  const schema::Node& node = *nodes[data[0] % 3];
  std::string bytes("k8s\0\x12", 5);
  std::uint64_t length = size - 1;
  for (; length >= 0x80; length >>= 7) bytes += static_cast<char>(length | 0x80);
  bytes += static_cast<char>(length);
  bytes.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto object = codec::ReadProtobuf(bytes, node, meta::NewArena());
  if (!object) return 0;
  const auto again = codec::ReadProtobuf(codec::WriteProtobuf(object->Root(), node), node, meta::NewArena());
  if (!again || codec::WriteJson(again->Root()) != codec::WriteJson(object->Root())) std::abort();
  return 0;
}
