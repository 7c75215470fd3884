#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "lib/rpc/delegate.h"

namespace apimesh::rpc {

/// A channel into the mesh: a server that is down fails calls at once and is tried again within a second; a dead
/// connection is noticed by keepalive. Certificates are read again when they change on disk.
/// One connection a target: more of them cost CPU and gained nothing.
std::shared_ptr<grpc::Channel> NewChannel(const Endpoint& endpoint);

}  // namespace apimesh::rpc
