#include "services/core-api/groups/coordination/group.h"

#include "services/core-api/groups/coordination/lease/lease.h"

namespace apimesh::core_api {

std::vector<registry::Resource> CoordinationGroup() { return {LeaseResource()}; }

}  // namespace apimesh::core_api
