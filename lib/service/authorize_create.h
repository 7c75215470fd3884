#pragma once

#include <functional>

#include "lib/meta/request/request_context.h"
#include "lib/service/auth_client.h"

namespace apimesh::service {

/// Checks whether the user may create the object that an update or apply would create; otherwise the error is the 403
/// of the edge. Every resource server passes this function to its engine, because the edge has authorized only the
/// update.
std::function<Task<meta::Result<>>(meta::RequestContext ctx)> CreateAuthorizer(AuthClientPtr auth);

/// Checks whether the user may delete an object that cannot be read (the verb unsafe-delete-ignore-read-errors, in
/// addition to delete); otherwise the error is a 403.
std::function<Task<meta::Result<>>(meta::RequestContext ctx)> UnsafeDeleteAuthorizer(AuthClientPtr auth);

}  // namespace apimesh::service
