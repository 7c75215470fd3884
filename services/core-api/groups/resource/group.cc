#include "services/core-api/groups/resource/group.h"

#include "services/core-api/groups/resource/resourceslice/resourceslice.h"

namespace apimesh::core_api {

std::vector<registry::Resource> ResourceGroup() { return {ResourceSliceResource()}; }

}  // namespace apimesh::core_api
