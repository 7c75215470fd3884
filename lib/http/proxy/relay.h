#pragma once

#include <memory>

#include "lib/http/client_connection.h"

namespace apimesh::http {

/// Returns a socket that behaves like the connection: bytes are copied between both, on the executor of the caller,
/// until either is closed. For a connection with TLS that carries another TLS connection. Returns -1 if there is no
/// descriptor left.
Task<int> StartRelay(std::shared_ptr<ClientConnection> connection, const Clock& clock);

}  // namespace apimesh::http
