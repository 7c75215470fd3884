#pragma once

#include <memory>

#include "lib/h2/channel.h"
#include "lib/rpc/delegate.h"

namespace apimesh::rpc {

/// A channel to a process of the mesh: plain on a Unix socket, mutual TLS by the mesh's certificates elsewhere.
std::shared_ptr<h2::Channel> NewChannel(const Endpoint& endpoint);

}  // namespace apimesh::rpc
