// Every request body of a write is normalised. A normalised document must not change when it is normalised again, nor
// when it is converted to protobuf and back.
#include <cstdint>
#include <cstdlib>

#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"
#include "lib/schema/defaults.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh;
  static const schema::Node* const nodes[] = {
      schema::Builtin().Find("io.k8s.api.core.v1.Pod"), schema::Builtin().Find("io.k8s.api.apps.v1.Deployment"),
      schema::Builtin().Find("io.k8s.api.coordination.v1.Lease"),
      schema::Builtin().Find("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition")};
  if (size == 0) return 0;
  const schema::Node& node = *nodes[data[0] % 4];
  codec::Strictness strict;
  auto value = codec::ParseJson({reinterpret_cast<const char*>(data) + 1, size - 1}, meta::NewArena(), &strict);
  if (!value || !value->is_object()) return 0;
  meta::json::object& document = value->get_object();
  if (!codec::Normalise(document, node, &strict)) return 0;

  auto again = codec::ParseJson(codec::WriteJson(*value), meta::NewArena());
  if (!again) std::abort();
  const std::string text = codec::WriteJson(*again);
  if (!codec::Normalise(again->get_object(), node, nullptr) || codec::WriteJson(*again) != text) std::abort();

  schema::ApplyDefaults(document, node);
  const auto read = codec::ReadProtobuf(codec::WriteProtobuf(document, node), node, meta::NewArena());
  if (!read) std::abort();
  return 0;
}
