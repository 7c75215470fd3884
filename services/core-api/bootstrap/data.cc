#include "services/core-api/bootstrap/data.h"

#include <stdexcept>

#include "lib/codec/codec.h"

namespace apimesh::core_api {

std::vector<meta::Object> BootstrapObjects(BootstrapFile file) {
  meta::Result<meta::json::value> parsed = codec::ParseJson(BootstrapBytes(file), {});
  if (!parsed || !parsed->is_array()) throw std::logic_error("a file of data/bootstrap is not a JSON array");
  std::vector<meta::Object> objects;
  for (meta::json::value& item : parsed->get_array()) objects.emplace_back(std::move(item.as_object()));
  return objects;
}

}  // namespace apimesh::core_api
