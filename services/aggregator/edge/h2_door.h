#pragma once

#include <memory>
#include <string>

#include "lib/http/server.h"

namespace apimesh::aggregator {

/// A door for a front proxy that speaks HTTP/2, at "unix:/path": many clients share a connection, and what they are told together crosses it
/// together (decision 0023). Throws std::runtime_error if it can't listen.
std::unique_ptr<http::Server> ListenHttp2(const std::string& address, int threads, const http::Limits& limits, http::Handler handler);

}  // namespace apimesh::aggregator
