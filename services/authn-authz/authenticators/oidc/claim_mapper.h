#pragma once

#include "services/authn-authz/authenticators/oidc/oidc.h"

namespace apimesh::authn_authz {

/// Maps verified claims to a user: name, groups, uid and extra from claims or expressions. Then all validation rules
/// for claims and for the user are checked. Returns an error if a claim is missing or has the wrong type, or if a rule
/// is violated.
meta::Result<meta::UserInfo> MapClaims(const OidcOptions& options, const boost::json::object& claims);

}  // namespace apimesh::authn_authz
