#pragma once

#include "lib/registry/resource.h"
#include "lib/service/auth_client.h"

/// The reviews of authentication.k8s.io. They are answered and never stored.
namespace apimesh::core_api {

struct KindInputs;

/// Answers which user a token belongs to. The token is authenticated by authn-authz.
registry::Resource TokenReviewResource(const KindInputs& inputs);
/// Answers which user sent the request, as authenticated at the edge.
registry::Resource SelfSubjectReviewResource(const KindInputs& inputs);

/// Returns {"username":…,"uid":…,"groups":…,"extra":…}.
meta::json::object UserJson(const meta::UserInfo& user);

}  // namespace apimesh::core_api
