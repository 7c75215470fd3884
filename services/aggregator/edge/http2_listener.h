#pragma once

#include <memory>
#include <string>

#include "lib/http/server.h"

namespace apimesh::aggregator {

/// Opens a listener for a front proxy that speaks HTTP/2, at "unix:/path". Many clients share a connection, so data for
/// several of them is sent together (decision 0023). Throws std::runtime_error if it can't listen.
std::unique_ptr<http::Server> ListenHttp2(const std::string& address, int threads, const http::Limits& limits,
                                          http::Handler handler, const Clock& clock);

}  // namespace apimesh::aggregator
