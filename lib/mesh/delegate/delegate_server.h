#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "lib/grpc/server.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::mesh {

using Listener = grpc::Listener;

class DelegateCalls;

/// Serves one DelegateHandler over gRPC. ServeDelegate() creates it.
class DelegateServer final {
 public:
  DelegateServer(std::shared_ptr<DelegateCalls> calls, std::unique_ptr<grpc::Server> server);
  ~DelegateServer();
  /// The port of listener `index`; 0 for a Unix socket.
  int Port(std::size_t index = 0) const;
  /// Sets the state that the standard gRPC health service reports; initially serving.
  void SetServing(bool serving);
  /// Accepts no new calls, ends the watches, waits for the other active calls and closes the remaining ones after
  /// `limit`. Blocks, so it must not be called on an I/O thread.
  void Drain(std::chrono::milliseconds limit);

 private:
  const std::shared_ptr<DelegateCalls> calls_;
  const std::unique_ptr<grpc::Server> server_;
};

/// Starts listening before it returns; throws std::runtime_error with a clear text if it cannot. Each call of the
/// handler runs on one of `workers`, each of which has one thread. An exception from the handler is logged and becomes
/// a 500. `more` has the methods of other services that this process serves.
std::unique_ptr<DelegateServer> ServeDelegate(const std::vector<Listener>& listeners,
                                              std::shared_ptr<DelegateHandler> handler,
                                              std::vector<boost::asio::io_context*> workers, const Clock& clock,
                                              grpc::Methods more = {});

}  // namespace apimesh::mesh
