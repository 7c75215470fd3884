#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/authorization/access_reviews.h"

namespace apimesh::core_api {

std::vector<registry::Resource> AuthorizationGroup(const KindInputs& inputs) {
  return {
      LocalSubjectAccessReviewResource(inputs),
      SelfSubjectAccessReviewResource(inputs),
      SelfSubjectRulesReviewResource(inputs),
      SubjectAccessReviewResource(inputs),
  };
}

}  // namespace apimesh::core_api
