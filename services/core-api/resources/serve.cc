#include "services/core-api/resources/serve.h"

#include <map>

#include "services/core-api/resources/table.h"

namespace apimesh::core_api {

std::vector<endpoint::ServedVersion> ServeAll(std::vector<registry::Resource> resources, const FindStore& store,
                                              admission::ChainPtr admission) {
  std::map<meta::GroupVersion, std::vector<endpoint::ServedResourcePtr>> by_version;
  for (registry::Resource& resource : resources) {
    auto served = std::make_shared<endpoint::ServedResource>();
    served->admission = admission;
    served->store = store(resource);
    const meta::GroupVersion version = resource.gvk.Version();
    served->resource = std::move(resource);
    by_version[version].push_back(std::move(served));
  }
  std::vector<endpoint::ServedVersion> versions;
  for (const PriorityRow& row : PriorityTable()) {
    const auto found = by_version.find(row.version);
    if (found == by_version.end()) continue;
    versions.push_back({row.version, row.group_priority_minimum, row.version_priority, std::move(found->second), ""});
  }
  return versions;
}

}  // namespace apimesh::core_api
