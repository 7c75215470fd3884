// Links: services/extensions-api/custom_resources/json_path.cc meta
// Any user who may create a definition provides the paths of its columns and selectable fields.
#include <cstdint>

#include "services/extensions-api/custom_resources/json_path.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = apimesh::meta::json;
  static const json::value document = json::parse(
      R"({"a":{"b":[1,-2.5,"x",null,true,{"c":"y"}],"d.e":{"f":{}}},"list":[{"type":"Ready","n":3},{"type":"Other"}]})");
  const auto path = apimesh::extensions_api::JsonPath::Parse({reinterpret_cast<const char*>(data), size});
  if (path) path->First(document.get_object());
  return 0;
}
