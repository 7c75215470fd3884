#pragma once

#include "services/authn-authz/authorizers/authorizer.h"
#include "services/authn-authz/authorizers/inputs.h"

namespace apimesh::authn_authz {

std::unique_ptr<Authorizer> NewAlwaysAllow();
/// Never has an opinion. The reason is "Everything is forbidden."
std::unique_ptr<Authorizer> NewAlwaysDeny();
/// Allows everything to members of `group`. Every chain begins with this authorizer for system:masters.
std::unique_ptr<Authorizer> NewPrivilegedGroup(std::string group);

/// Factories for chain.cc.
std::unique_ptr<Authorizer> MakeAlwaysAllow(const AuthorizerInputs& inputs);
std::unique_ptr<Authorizer> MakeAlwaysDeny(const AuthorizerInputs& inputs);

}  // namespace apimesh::authn_authz
