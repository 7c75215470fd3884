#include "services/core-api/resources/serve.h"

#include <map>

#include "lib/endpoint/storage_config.h"
#include "services/core-api/resources/deprecations.h"
#include "services/core-api/resources/table.h"

namespace apimesh::core_api {

std::vector<endpoint::ServedVersion> ServeAll(std::vector<registry::Resource> resources, storage::Backend& backend,
                                              const OpenedStores& opened, const Surroundings& surroundings) {
  std::map<meta::GroupVersion, std::vector<endpoint::ServedResourcePtr>> by_version;
  for (registry::Resource& resource : resources) {
    auto served = std::make_shared<endpoint::ServedResource>();
    const std::string name = resource.GetGroupResource().ToString();
    served->admission = surroundings.admission;
    if (const auto checks = surroundings.checks.find(name); checks != surroundings.checks.end()) served->checks = checks->second;
    for (const registry::Subresource& subresource : resource.subresources) {
      const auto connector = surroundings.connectors.find(name + "/" + subresource.name);
      if (connector != surroundings.connectors.end()) served->connectors[subresource.name] = connector->second;
    }
    const auto found = opened.find(resource.storage_prefix.empty() ? resource.plural : resource.storage_prefix);
    if (found != opened.end()) {
      served->store = found->second;
    } else if (!resource.storage_prefix.empty()) {
      served->store = backend.Open(endpoint::StorageConfig(resource));
    }
    served->warnings = DeprecationsOf(resource.GetGvr());
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
