#pragma once

#include <functional>

#include "lib/meta/request_context.h"
#include "lib/service/auth_client.h"

namespace apimesh::service {

/// Whether the user may create what an update or apply would create: 403 in the words of the edge if not. Every server of
/// resources gives this to its engine, since the edge has authorized an update only.
std::function<Task<meta::Result<>>(meta::RequestContext ctx)> CreateAuthorizer(AuthClientPtr auth);

/// Whether the user may delete unseen what can't be read (the verb unsafe-delete-ignore-read-errors, beside delete): 403 if not.
std::function<Task<meta::Result<>>(meta::RequestContext ctx)> UnsafeDeleteAuthorizer(AuthClientPtr auth);

}  // namespace apimesh::service
