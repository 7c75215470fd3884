#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/mesh/delegate/delegate.h"

namespace apimesh::core_api {

/// The subprotocol of exec and attach in which a client can close single channels.
inline constexpr std::string_view kStreamCloseProtocol = "v5.channel.k8s.io";
/// The prefix of the subprotocols of port-forward that carry a SPDY connection.
inline constexpr std::string_view kTunnelPrefix = "SPDY/3.1+";
/// What the Upgrade header of a SPDY connection says.
inline constexpr std::string_view kSpdy = "SPDY/3.1";
/// The header that lists the protocols of the streams of a SPDY connection.
inline constexpr std::string_view kStreamProtocolHeader = "x-stream-protocol-version";

/// Whether the client asks for a WebSocket with kStreamCloseProtocol.
bool AsksForStreamClose(const mesh::Request& request);
/// The protocols of the SPDY connection that the client wants to send through a WebSocket; empty if it does not.
std::vector<std::string> TunnelledProtocols(const mesh::Request& request);

}  // namespace apimesh::core_api
