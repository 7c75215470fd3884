#pragma once

#include "lib/mesh/delegate/delegate.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// Whether the client asks for a protocol upgrade (WebSocket, SPDY).
bool AsksForUpgrade(const http::Request& request);

/// Whether the client asks for an upgrade to HTTP/2. It must be ignored: a server that agrees would accept any requests
/// of the client, with any identity headers, on the connection that the mesh has authenticated.
bool AsksForHttp2(const http::Request& request);
/// Removes the headers of an upgrade that is ignored. "connection" stays, because it lists headers of this connection.
void RemoveUpgrade(mesh::Headers& headers);

/// Whether the server of the request needs its body. The body of a GET or HEAD request is ignored unless the request
/// goes to a server outside the mesh (`external`) or is proxied.
bool NeedsBody(const Exchange& exchange, bool external);

/// Converts the request to the message that is sent within the mesh, and moves the body into it if it has been read.
/// Only headers that group servers use are copied. Proxied requests, and all requests with `all_headers`, keep every
/// header except hop-by-hop headers.
mesh::Request ToMeshRequest(Exchange& exchange, bool all_headers = false);

}  // namespace apimesh::aggregator
