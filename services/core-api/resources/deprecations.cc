#include "services/core-api/resources/deprecations.h"

#include <string_view>

namespace apimesh::core_api {
namespace {

struct Row {
  std::string_view group, version, resource, text;
};
constexpr Row kRows[] = {
    {"", "v1", "componentstatuses", "v1 ComponentStatus is deprecated in v1.19+"},
    {"", "v1", "endpoints", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"},
};

}  // namespace

std::vector<std::string> DeprecationsOf(const meta::Gvr& resource) {
  std::vector<std::string> texts;
  for (const Row& row : kRows) {
    if (resource.group == row.group && resource.version == row.version && resource.resource == row.resource) texts.emplace_back(row.text);
  }
  return texts;
}

}  // namespace apimesh::core_api
