#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/groups/scheduling/podgroup/podgroup.h"
#include "services/core-api/groups/scheduling/priorityclass/priorityclass.h"

namespace apimesh::core_api {

std::vector<registry::Resource> SchedulingGroup(const KindInputs& inputs) {
  std::vector<registry::Resource> resources = {PriorityClassResource(inputs)};
  if (inputs.features.Enabled(features::kGenericWorkload)) {
    resources.push_back(PodGroupResource(inputs));
    resources.push_back(WorkloadResource(inputs));
  }
  return resources;
}

}  // namespace apimesh::core_api
