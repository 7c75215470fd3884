#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/internal/storageversion/storageversion.h"

namespace apimesh::core_api {

std::vector<registry::Resource> InternalApiserverGroup(const KindInputs& inputs) {
  return {
      StorageVersionResource(inputs),
  };
}

}  // namespace apimesh::core_api
