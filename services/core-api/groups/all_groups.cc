#include "services/core-api/groups/all_groups.h"

#include <algorithm>
#include <map>
#include <set>

#include "services/core-api/groups/apps/group.h"
#include "services/core-api/groups/autoscaling/group.h"
#include "services/core-api/groups/certificates/group.h"
#include "services/core-api/groups/coordination/group.h"
#include "services/core-api/groups/core/group.h"
#include "services/core-api/groups/discovery/group.h"
#include "services/core-api/groups/events/group.h"
#include "services/core-api/groups/rbac/group.h"
#include "services/core-api/groups/resource/group.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/resources/table.h"

namespace apimesh::core_api {
namespace {

using Group = std::vector<registry::Resource> (*)();

// One line a group that has kinds with folders.
constexpr Group kGroups[] = {
    &AppsGroup,
    &AutoscalingGroup,
    &CertificatesGroup,
    &CoordinationGroup,
    &CoreGroup,
    &DiscoveryGroup,
    &EventsGroup,
    &RbacGroup,
    &ResourceGroup,
};

// Served by the other links of the chain.
constexpr std::string_view kElsewhere[] = {"apiextensions.k8s.io", "apiregistration.k8s.io"};

}  // namespace

std::vector<registry::Resource> AllResources(const std::vector<std::string>& groups) {
  const auto wanted = [&groups](const std::string& group) {
    if (std::find(std::begin(kElsewhere), std::end(kElsewhere), group) != std::end(kElsewhere)) return false;
    return groups.empty() || std::find(groups.begin(), groups.end(), group) != groups.end();
  };
  std::vector<registry::Resource> resources;
  std::set<meta::Gvr> known;
  for (const Group group : kGroups) {
    for (registry::Resource& resource : group()) {
      known.insert(resource.GetGvr());
      if (wanted(resource.gvk.group)) resources.push_back(std::move(resource));
    }
  }
  for (const ResourceRow& row : ResourceTable()) {
    if (row.IsSubresource() || !wanted(row.group) || known.contains({row.group, row.version, row.resource})) continue;
    resources.push_back(FromTable(row.group, row.version, row.resource));
  }
  return resources;
}

}  // namespace apimesh::core_api
