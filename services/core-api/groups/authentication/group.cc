#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/authentication/reviews.h"

namespace apimesh::core_api {

std::vector<registry::Resource> AuthenticationGroup(const KindInputs& inputs) {
  return {
      SelfSubjectReviewResource(inputs),
      TokenReviewResource(inputs),
  };
}

}  // namespace apimesh::core_api
