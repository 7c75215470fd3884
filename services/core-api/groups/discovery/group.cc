#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/discovery/endpointslice/endpointslice.h"

namespace apimesh::core_api {

std::vector<registry::Resource> DiscoveryGroup(const KindInputs& inputs) {
  return {
      EndpointSliceResource(inputs),
  };
}

}  // namespace apimesh::core_api
