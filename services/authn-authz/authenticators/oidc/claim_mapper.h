#pragma once

#include "services/authn-authz/authenticators/oidc/oidc.h"

namespace apimesh::authn_authz {

/// The user that verified claims stand for: names, groups, uid and extra by claims or expressions, then all rules about
/// the claims and about the user. An error if one is missing, of the wrong type, or broken.
meta::Result<meta::UserInfo> MapClaims(const OidcOptions& options, const boost::json::object& claims);

}  // namespace apimesh::authn_authz
