#pragma once

#include <string>
#include <string_view>

#include "lib/http/server.h"
#include "services/aggregator/options.h"

namespace apimesh::aggregator {

/// Returns the limits of the process, which all listeners share.
http::Limits LimitsOf(const Options& options);

/// Returns the TLS listener for clients. Throws std::runtime_error for certificates that cannot be parsed.
http::ServerOptions PublicPort(const Options& options, const http::Limits& limits, const Clock& clock);

/// Returns the TLS listener for a front proxy on another machine, which must prove that it is Envoy.
http::ServerOptions FrontProxyPort(const Options& options, const http::Limits& limits, const Clock& clock);

/// Returns a listener without TLS on a Unix socket.
http::ServerOptions PlainSocket(const std::string& address, const Options& options, const http::Limits& limits,
                                const Clock& clock);

/// Returns the address if it is "unix:/path"; throws std::runtime_error with the name of the flag if not.
const std::string& UnixSocket(std::string_view flag, const std::string& address);

}  // namespace apimesh::aggregator
