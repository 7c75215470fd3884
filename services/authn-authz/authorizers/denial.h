#pragma once

#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// `User "x" cannot list resource "pods" in API group "" in the namespace "default"`: what a 403 says.
std::string DenialText(const Attributes& attributes);

}  // namespace apimesh::authn_authz
