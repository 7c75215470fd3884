#pragma once

#include "services/authn-authz/authenticators/authenticator.h"

namespace apimesh::authn_authz {

/// Authenticates every request as system:anonymous. With `paths`, only requests for exactly one of these paths.
std::unique_ptr<Authenticator> NewAnonymous(std::vector<std::string> paths);

}  // namespace apimesh::authn_authz
