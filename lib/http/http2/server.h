#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/http/http2/connection.h"
#include "lib/http/server.h"

namespace boost::asio {
class io_context;
}

namespace apimesh::http {

/// The address of an HTTP/2 listener and its rules about who may connect.
struct Http2Listener {
  /// "unix:/path": only this user can connect; a missing folder is created with access for this user only. "host:port"
  /// (port 0: any free port): mutual TLS with the CA, and only clients with one of `client_uris` can connect.
  std::string address;
  std::string ca_file, cert_file, key_file;  // for host:port; reloaded when they change on disk
  std::vector<std::string> client_uris;      // for host:port; subject alternative names of client certificates
};

/// The client of a new connection.
struct Http2Client {
  std::size_t listener = 0;  // the index of the listener that accepted it
  std::optional<std::string>
      uri;  // the entry of the listener's `client_uris` that the certificate has; none on a Unix socket
};

/// Called for each new connection.
using NewStreams = std::function<StreamFactory(const Http2Client& client)>;

/// Accepts HTTP/2 connections. ServeStreams() and ServeHttp2() create it.
class Http2Server final {
 public:
  class State;
  explicit Http2Server(std::unique_ptr<State> state);
  /// Closes all connections.
  ~Http2Server();
  /// The port of listener `index`; 0 for a Unix socket.
  int Port(std::size_t index = 0) const;
  /// Accepts no new connections and requests, waits for active requests, and closes the remaining ones after `limit`.
  /// Blocks.
  void Drain(std::chrono::milliseconds limit);

 private:
  const std::unique_ptr<State> state_;
};

/// Starts listening before it returns; throws std::runtime_error with a clear text if it cannot. A connection stays on
/// one of `workers`, each of which runs on one thread and must outlive the server.
std::unique_ptr<Http2Server> ServeStreams(const std::vector<Http2Listener>& listeners, NewStreams new_streams,
                                          const http2::Limits& limits, std::vector<boost::asio::io_context*> workers,
                                          const Clock& clock);

/// Serves plain HTTP/2 requests of a front proxy, which must be part of the mesh: the server trusts every client that
/// can connect.
std::unique_ptr<Http2Server> ServeHttp2(const std::vector<Http2Listener>& listeners, Handler handler,
                                        const Limits& limits, std::vector<boost::asio::io_context*> workers,
                                        const Clock& clock);

}  // namespace apimesh::http
