#pragma once

#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// Returns the text of a 403: `User "x" cannot list resource "pods" in API group "" in the namespace "default"`.
std::string DenialText(const Attributes& attributes);

}  // namespace apimesh::authn_authz
