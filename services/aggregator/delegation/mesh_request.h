#pragma once

#include "lib/rpc/delegate.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// Whether the client asks to take over the connection (WebSocket, SPDY).
bool AsksForUpgrade(const http::Request& request);

/// The request as it travels in the mesh. Takes the body. Of the headers it takes those that mean something to a group
/// server; proxied requests (and any with `all_headers`) keep all that are not between client and edge only.
rpc::Request ToMeshRequest(Exchange& exchange, bool all_headers = false);

}  // namespace apimesh::aggregator
