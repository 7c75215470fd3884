#pragma once

#include <memory>
#include <string>

#include "lib/http/client.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::core_api {

/// Serves port-forward for a client that sends a SPDY connection through a WebSocket (TunnelledProtocols() is not
/// empty): connects to the kubelet at `url` by SPDY, accepts the WebSocket, and copies the bytes between the two. If an
/// error is returned, nothing was sent.
Task<meta::Result<>> TunnelPortForward(mesh::Request request, mesh::ConnectStream& stream,
                                       std::shared_ptr<http::Client> client, std::string url);

}  // namespace apimesh::core_api
