#pragma once

#include <memory>

#include "lib/grpc/channel.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::mesh {

/// A channel to a mesh process: plaintext on a Unix socket, otherwise mutual TLS with the mesh's certificates.
std::shared_ptr<grpc::Channel> NewChannel(const Endpoint& endpoint, const Clock& clock);

/// Returns a client for a server that is not a process of the mesh. Nothing is read from the memory of the server
/// unless Describe() is called. `name` is for messages.
std::unique_ptr<DelegateClient> NewDelegateClient(std::shared_ptr<grpc::Channel> channel, std::string name,
                                                  boost::asio::any_io_executor executor);

}  // namespace apimesh::mesh
