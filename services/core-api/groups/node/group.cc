#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/node/runtimeclass/runtimeclass.h"

namespace apimesh::core_api {

std::vector<registry::Resource> NodeGroup(const KindInputs& inputs) {
  return {
      RuntimeClassResource(inputs),
  };
}

}  // namespace apimesh::core_api
