#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "services/store/net/call.h"
#include "services/store/net/event_loop.h"
#include "services/store/net/tls.h"

namespace apimesh::store {

class Connection;

/// The address of a listener: "http://host:port", "https://host:port" or "unix:///path" (also etcd's "unix://name").
struct ListenUrl {
  bool tls = false;
  std::string host, port;  // or
  std::string unix_path;

  /// Throws std::invalid_argument with a message for the user.
  static ListenUrl Parse(std::string_view url);
};

/// Accepts clients on any number of addresses and flushes their connections at the end of each turn. Must be used on
/// the loop thread only.
class Listener {
 public:
  Listener(EventLoop& loop, Routes routes);
  ~Listener();

  /// Starts to listen. `tls` is used for https URLs. Returns the bound port, or 0 for a Unix socket. Throws
  /// std::system_error.
  int Listen(const ListenUrl& url, std::shared_ptr<TlsServerContext> tls);
  void StopAccepting();
  /// Sends GOAWAY to all clients.
  void GoAway();
  std::size_t Connections() const { return connections_.size(); }
  /// Flushes the connections that have output. Must run at the end of each turn, after the writes were passed to the
  /// log.
  void FlushAll();

 private:
  class Acceptor;
  void Accepted(int fd, TlsServerContext* tls);
  void WantsFlush(Connection& connection);
  void Closed(Connection& connection);

  EventLoop& loop_;
  Routes routes_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  std::vector<Connection*> to_flush_;
};

}  // namespace apimesh::store
