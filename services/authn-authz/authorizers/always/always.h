#pragma once

#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

std::unique_ptr<Authorizer> NewAlwaysAllow();
/// Has no opinion, ever, and says so: "Everything is forbidden."
std::unique_ptr<Authorizer> NewAlwaysDeny();
/// Allows everything to members of `group`. First in every chain with system:masters.
std::unique_ptr<Authorizer> NewPrivilegedGroup(std::string group);

}  // namespace apimesh::authn_authz
