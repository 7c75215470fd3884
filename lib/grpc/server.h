#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "lib/grpc/caller.h"
#include "lib/grpc/server_call.h"

namespace boost::asio {
class io_context;
}
namespace apimesh::http {
class Http2Server;
}

namespace apimesh::grpc {

class Health;

/// The address of a gRPC listener and its rules about who may connect.
struct Listener {
  /// "unix:/path": only this user can connect; a missing folder is created with access for this user only. "host:port"
  /// (port 0: any free port): mutual TLS with the CA, and only `callers` can connect.
  std::string address;
  std::string ca_file, cert_file, key_file;  // for host:port; reloaded when they change on disk
  std::vector<Caller> callers;               // for host:port
};

/// A gRPC server with the standard health service. Serve() creates it.
class Server final {
 public:
  Server(std::shared_ptr<Health> health, std::unique_ptr<http::Http2Server> server);
  ~Server();
  /// The port of listener `index`; 0 for a Unix socket.
  int Port(std::size_t index = 0) const;
  /// Sets the state that the health service reports.
  void SetServing(bool serving);
  /// Accepts no new connections and calls, waits for active calls, and closes the remaining ones after `limit`. Blocks.
  void Drain(std::chrono::milliseconds limit);

 private:
  const std::shared_ptr<Health> health_;
  const std::unique_ptr<http::Http2Server> server_;
};

/// Starts listening before it returns; throws std::runtime_error with a clear text if it cannot. A connection stays on
/// one of `workers`, each of which runs on one thread and must outlive the server.
std::unique_ptr<Server> Serve(const std::vector<Listener>& listeners, Methods methods,
                              std::vector<boost::asio::io_context*> workers, const Clock& clock);

}  // namespace apimesh::grpc
