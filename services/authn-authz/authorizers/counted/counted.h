#pragma once

#include "lib/service/metrics.h"
#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// Counts what `inner` allows and denies as apiserver_authorization_decisions_total; having no opinion is not counted.
std::unique_ptr<Authorizer> NewCounted(std::unique_ptr<Authorizer> inner, const std::string& type,
                                       const std::string& name, service::Metrics& metrics);

}  // namespace apimesh::authn_authz
