#include "services/core-api/groups/actions.h"

#include <algorithm>

#include "services/core-api/groups/authentication/reviews.h"
#include "services/core-api/groups/authorization/access_reviews.h"

namespace apimesh::core_api {
namespace {

registry::Action ActionOf(const std::string& plural, const service::AuthClientPtr& auth) {
  if (plural == "tokenreviews") return TokenReviewAction(auth);
  if (plural == "selfsubjectreviews") return SelfSubjectReviewAction();
  if (plural == "subjectaccessreviews") return SubjectAccessReviewAction(auth);
  if (plural == "localsubjectaccessreviews") return LocalSubjectAccessReviewAction(auth);
  if (plural == "selfsubjectaccessreviews") return SelfSubjectAccessReviewAction(auth);
  if (plural == "selfsubjectrulesreviews") return SelfSubjectRulesReviewAction(auth);
  return {};
}

}  // namespace

void AddActions(std::vector<registry::Resource>& resources, const ActionInputs& inputs) {
  for (registry::Resource& resource : resources) {
    const std::string& group = resource.gvk.group;
    if (group == "authentication.k8s.io" || group == "authorization.k8s.io") resource.create = ActionOf(resource.plural, inputs.auth);
    if (!group.empty() || resource.plural != "serviceaccounts") continue;
    for (registry::Subresource& subresource : resource.subresources) {
      if (subresource.name == "token" && inputs.issuer) subresource.create = TokenRequestAction(*inputs.issuer, inputs.read);
    }
    // Without a key there are no tokens, and the path is not served.
    if (!inputs.issuer) std::erase_if(resource.subresources, [](const registry::Subresource& one) { return one.name == "token"; });
  }
}

}  // namespace apimesh::core_api
