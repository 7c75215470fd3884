#pragma once

#include "lib/registry/resource.h"
#include "lib/service/auth_client.h"

/// The reviews of authorization.k8s.io: questions to authn-authz, nothing is stored.
namespace apimesh::core_api {

registry::Action SubjectAccessReviewAction(service::AuthClientPtr auth);       // anybody's access
registry::Action LocalSubjectAccessReviewAction(service::AuthClientPtr auth);  // in one namespace
registry::Action SelfSubjectAccessReviewAction(service::AuthClientPtr auth);   // one's own
registry::Action SelfSubjectRulesReviewAction(service::AuthClientPtr auth);

/// The question a review's spec asks about this user.
service::AccessQuestion QuestionOf(const meta::json::object& spec, meta::UserInfo user);
/// The rules of all three reviews of access.
enum class ReviewKind { kSubject, kLocal, kSelf };
meta::FieldErrors ValidateReview(const meta::Object& review, ReviewKind kind);

}  // namespace apimesh::core_api
