#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/policy/poddisruptionbudget/poddisruptionbudget.h"

namespace apimesh::core_api {

std::vector<registry::Resource> PolicyGroup(const KindInputs& inputs) {
  return {
      PodDisruptionBudgetResource(inputs),
  };
}

}  // namespace apimesh::core_api
