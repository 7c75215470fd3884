#include "services/core-api/groups/all_groups.h"

#include <algorithm>

#include "services/core-api/groups/feature_fields.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/runtime_config.h"

namespace apimesh::core_api {
namespace {

using Group = std::vector<registry::Resource> (*)(const KindInputs& inputs);

constexpr Group kGroups[] = {
    &AdmissionRegistrationGroup,
    &AppsGroup,
    &AuthenticationGroup,
    &AuthorizationGroup,
    &AutoscalingGroup,
    &BatchGroup,
    &CertificatesGroup,
    &CoordinationGroup,
    &CoreGroup,
    &DiscoveryGroup,
    &EventsGroup,
    &FlowControlGroup,
    &InternalApiserverGroup,
    &NetworkingGroup,
    &NodeGroup,
    &PolicyGroup,
    &RbacGroup,
    &ResourceGroup,
    &SchedulingGroup,
    &StorageGroup,
    &StorageMigrationGroup,
};

}  // namespace

std::vector<registry::Resource> AllResources(const KindInputs& inputs) {
  std::vector<registry::Resource> resources;
  for (const Group group : kGroups) {
    for (registry::Resource& resource : group(inputs)) {
      const bool by_default = IsStable(resource.gvk.version);
      if (by_default || IsServed(inputs.flags.runtime_config, resource.GetGvr())) {
        resources.push_back(std::move(resource));
      }
    }
  }
  SetDisabledFields(inputs.features, resources);
  return resources;
}

bool IsServedHere(const KindInputs& inputs, const registry::Resource& resource) {
  const std::vector<std::string>& groups = inputs.flags.api_groups;
  const std::string name = resource.gvk.group.empty() ? "core" : resource.gvk.group;
  if (!groups.empty() && std::find(groups.begin(), groups.end(), name) == groups.end()) return false;
  return IsServed(inputs.flags.runtime_config, resource.GetGvr());
}

}  // namespace apimesh::core_api
