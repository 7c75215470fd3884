#pragma once

#include <set>

#include <boost/json/object.hpp>

#include "lib/meta/field_error.h"
#include "services/authn-authz/authenticators/oidc/oidc.h"

namespace apimesh::authn_authz {

/// One entry of `jwt` in an AuthenticationConfiguration. Complaints go to `errors`, in the reference's order and words;
/// the result counts only if there are none. Issuers of this server itself (`disallowed`) can't be trusted a second
/// time.
OidcOptions ReadIssuer(const boost::json::object& jwt, const meta::Path& path, const std::set<std::string>& disallowed,
                       meta::FieldErrors& errors);

}  // namespace apimesh::authn_authz
