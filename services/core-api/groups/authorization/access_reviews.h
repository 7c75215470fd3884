#pragma once

#include "lib/registry/resource.h"
#include "lib/service/auth_client.h"

/// The reviews of authorization.k8s.io. They are answered by authn-authz and never stored.
namespace apimesh::core_api {

struct KindInputs;

registry::Resource SubjectAccessReviewResource(const KindInputs& inputs);       // about any user
registry::Resource LocalSubjectAccessReviewResource(const KindInputs& inputs);  // about any user, in one namespace
registry::Resource SelfSubjectAccessReviewResource(const KindInputs& inputs);   // about the user who sends the review
registry::Resource SelfSubjectRulesReviewResource(const KindInputs& inputs);

/// Returns the question that the spec of a review asks about this user.
service::AccessQuestion QuestionOf(const meta::json::object& spec, meta::UserInfo user);
/// The validation rules of the three access reviews.
enum class ReviewKind { kSubject, kLocal, kSelf };
meta::FieldErrors ValidateReview(const meta::Object& review, ReviewKind kind);

}  // namespace apimesh::core_api
