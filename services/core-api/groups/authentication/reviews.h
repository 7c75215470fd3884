#pragma once

#include "lib/registry/resource.h"
#include "lib/service/auth_client.h"

/// The reviews of authentication.k8s.io; nothing is stored.
namespace apimesh::core_api {

/// Whose token is this? authn-authz knows.
registry::Action TokenReviewAction(service::AuthClientPtr auth);
/// Who am I? What the edge found out.
registry::Action SelfSubjectReviewAction();

/// {"username":…,"uid":…,"groups":…,"extra":…}
meta::json::object UserJson(const meta::UserInfo& user);

}  // namespace apimesh::core_api
