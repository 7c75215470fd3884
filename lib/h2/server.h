#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "lib/h2/caller.h"
#include "lib/h2/server_call.h"
#include "lib/http/server.h"

namespace boost::asio {
class io_context;
}

namespace apimesh::h2 {

/// Where a server listens.
struct Listener {
  /// "unix:/path": only this user can connect; the folder is made, for this user alone, if it is missing.
  /// "host:port" (port 0: any): mutual TLS by the CA, and only `callers` can connect.
  std::string address;
  std::string ca_file, cert_file, key_file;  // for host:port; reloaded when they change on disk
  std::vector<Caller> callers;               // for host:port
};

/// A gRPC server with the standard health service.
class Server {
 public:
  virtual ~Server() = default;
  /// The port of listener `index`; 0 for a Unix socket.
  virtual int Port(std::size_t index = 0) const = 0;
  /// What the health service says.
  virtual void SetServing(bool serving) = 0;
  /// Takes no new connections and calls, waits for calls under way, cuts what is left after `limit`. Blocks.
  virtual void Drain(std::chrono::milliseconds limit) = 0;
};

/// Listens at once; throws std::runtime_error with a clear text if it can't. A connection stays on one of `workers`,
/// each of which runs on one thread and outlives the server.
std::unique_ptr<Server> Serve(const std::vector<Listener>& listeners, Methods methods,
                              std::vector<boost::asio::io_context*> workers);

/// The same for plain HTTP/2 requests of a front proxy, which must be one of the mesh: whoever can connect is believed.
std::unique_ptr<Server> ServeHttp(const std::vector<Listener>& listeners, http::Handler handler, const http::Limits& limits,
                                  std::vector<boost::asio::io_context*> workers);

}  // namespace apimesh::h2
