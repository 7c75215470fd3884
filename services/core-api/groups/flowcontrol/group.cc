#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/flowcontrol/flowschema/flowschema.h"
#include "services/core-api/groups/flowcontrol/prioritylevelconfiguration/prioritylevelconfiguration.h"

namespace apimesh::core_api {

std::vector<registry::Resource> FlowControlGroup(const KindInputs& inputs) {
  return {
      FlowSchemaResource(inputs),
      PriorityLevelConfigurationResource(inputs),
  };
}

}  // namespace apimesh::core_api
