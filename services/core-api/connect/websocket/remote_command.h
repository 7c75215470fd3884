#pragma once

#include <memory>
#include <string>

#include "lib/base/clock.h"
#include "lib/http/client.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::core_api {

/// The streams of a container that the client asked for.
struct CommandStreams {
  bool in = false, out = false, error = false, tty = false;
};

/// Serves exec and attach for a client that asked for a WebSocket with kStreamCloseProtocol: accepts it, connects to
/// the kubelet at `url` by SPDY, and copies until the command has ended or a side is gone. Errors of the kubelet are
/// reported through the WebSocket.
Task<> TranslateCommand(mesh::Request request, mesh::ConnectStream& stream, std::shared_ptr<http::Client> client,
                        std::string url, CommandStreams streams, const Clock& clock);

}  // namespace apimesh::core_api
