#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/coordination/lease/lease.h"
#include "services/core-api/groups/coordination/leasecandidate/leasecandidate.h"
#include "services/core-api/resources/other_version.h"

namespace apimesh::core_api {

std::vector<registry::Resource> CoordinationGroup(const KindInputs& inputs) {
  const registry::Resource candidate = LeaseCandidateResource(inputs);
  return {
      LeaseResource(inputs),
      candidate,
      InVersion(candidate, "v1alpha2"),
  };
}

}  // namespace apimesh::core_api
