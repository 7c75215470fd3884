#pragma once

#include <string>

#include "lib/http/server.h"
#include "services/console/cluster/identity.h"

namespace apimesh::console {

/// Forwards a request to the API server with the credentials of `identity`, and streams the response without
/// collecting it: a piece is read from the API server when the browser has room for it. `target` is the path and query
/// at the API server. The request ends when the browser goes away, or at `deadline`. Only a few headers pass in either
/// direction; in particular the browser cannot send credentials, and the response cannot set cookies or redirect.
Task<> Forward(IdentityPtr identity, http::Request request, std::string target, SteadyTime deadline,
               http::ResponseWriter& writer);

}  // namespace apimesh::console
