#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server.h>

#include <chrono>
#include <memory>
#include <vector>

#include "lib/rpc/listener.h"

namespace apimesh::rpc {

/// A gRPC server with the standard health service and reflection.
class GrpcServer {
 public:
  /// Listens at once; throws std::runtime_error with a clear text if it can't. `services` outlive the server.
  GrpcServer(const std::vector<Listener>& listeners, const std::vector<grpc::Service*>& services);
  ~GrpcServer();

  /// The port of listener `index`; 0 for a Unix socket.
  int Port(std::size_t index = 0) const { return ports_[index]; }
  /// What the health service says.
  void SetServing(bool serving);
  /// Takes no new calls, waits for those under way, cancels what is left after `limit`. Blocks.
  void Shutdown(std::chrono::milliseconds limit);

 private:
  std::vector<int> ports_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace apimesh::rpc
