#pragma once

#include "lib/rpc/delegate.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// Whether the client asks to take over the connection (WebSocket, SPDY).
bool AsksForUpgrade(const http::Request& request);

/// Whether whoever serves the request looks at its body: a read has none that means anything, unless it is passed on to
/// a server outside the mesh (`external`) or a proxied one.
bool NeedsBody(const Exchange& exchange, bool external);

/// The request as it travels in the mesh. Takes the body, if it has been read. Of the headers it takes those that mean something to a group
/// server; proxied requests (and any with `all_headers`) keep all that are not between client and edge only.
rpc::Request ToMeshRequest(Exchange& exchange, bool all_headers = false);

}  // namespace apimesh::aggregator
