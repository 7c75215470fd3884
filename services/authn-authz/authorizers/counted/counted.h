#pragma once

#include "lib/service/metrics.h"
#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// Counts the decisions of `inner` in apiserver_authorization_decisions_total. kNoOpinion is not counted.
std::unique_ptr<Authorizer> NewCounted(std::unique_ptr<Authorizer> inner, const std::string& type,
                                       const std::string& name, service::Metrics& metrics);

}  // namespace apimesh::authn_authz
