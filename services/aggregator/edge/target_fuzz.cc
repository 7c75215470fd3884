// Links: services/aggregator/edge/target.cc codec meta
// Parses arbitrary request targets. An accepted target must be a path that every program interprets in the same way.
#include <cstdint>
#include <cstdlib>

#include "lib/meta/request/request_info.h"
#include "services/aggregator/edge/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto target = apimesh::aggregator::ParseTarget({reinterpret_cast<const char*>(data), size});
  if (!target) return 0;
  const std::string path = target->path + "/";
  if (!path.starts_with('/') || path.find("/../") != path.npos || path.find("/./") != path.npos) std::abort();
  if (path.find_first_of(std::string_view("\0\r\n", 3)) != path.npos) std::abort();
  apimesh::meta::ParseRequestInfo("GET", target->path, target->query);
  return 0;
}
