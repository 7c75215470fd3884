#pragma once

#include <set>

#include <boost/json/object.hpp>

#include "lib/meta/errors/field_error.h"
#include "services/authn-authz/authenticators/oidc/oidc.h"

namespace apimesh::authn_authz {

/// Reads one entry of `jwt` in an AuthenticationConfiguration. Errors are added to `errors`, with the order and texts
/// of kube-apiserver; the result is valid only if there are none. The service account issuers of this server
/// (`disallowed`) are rejected.
OidcOptions ReadIssuer(const boost::json::object& jwt, const meta::Path& path, const std::set<std::string>& disallowed,
                       meta::FieldErrors& errors);

}  // namespace apimesh::authn_authz
