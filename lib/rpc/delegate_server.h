#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "lib/h2/server.h"
#include "lib/rpc/delegate.h"

namespace apimesh::rpc {

using Listener = h2::Listener;

/// Serves one DelegateHandler over gRPC.
class DelegateServer {
 public:
  virtual ~DelegateServer() = default;
  /// The port of listener `index`; 0 for a Unix socket.
  virtual int Port(std::size_t index = 0) const = 0;
  /// What the standard health service says; true at first.
  virtual void SetServing(bool serving) = 0;
  /// Takes no new calls, ends the watches, waits for the other calls under way and cuts what is left after `limit`.
  /// Blocks: not for an I/O thread.
  virtual void Drain(std::chrono::milliseconds limit) = 0;
};

/// Listens at once; throws std::runtime_error with a clear text if it can't. Each call of the handler runs on one of
/// `workers`, each with one thread. An exception out of the handler is logged and becomes a 500.
std::unique_ptr<DelegateServer> ServeDelegate(const std::vector<Listener>& listeners, std::shared_ptr<DelegateHandler> handler,
                                              std::vector<boost::asio::io_context*> workers);

}  // namespace apimesh::rpc
