#include "services/core-api/groups/discovery/group.h"

#include "services/core-api/groups/discovery/endpointslice/endpointslice.h"

namespace apimesh::core_api {

std::vector<registry::Resource> DiscoveryGroup() { return {EndpointSliceResource()}; }

}  // namespace apimesh::core_api
