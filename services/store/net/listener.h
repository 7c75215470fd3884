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

/// Where to listen: "http://host:port", "https://host:port" or "unix:///path" (etcd's "unix://name" too).
struct ListenUrl {
  bool tls = false;
  std::string host, port;  // or
  std::string unix_path;

  /// Throws std::invalid_argument with a sentence for the user.
  static ListenUrl Parse(std::string_view url);
};

/// Accepts clients on any number of addresses and flushes them at the end of each turn. Loop thread only.
class Listener {
 public:
  Listener(EventLoop& loop, Routes routes);
  ~Listener();

  /// Throws std::system_error. `tls` is used where the URL asks for it. Returns the port that was bound (0: Unix).
  int Listen(const ListenUrl& url, std::shared_ptr<TlsServerContext> tls);
  void StopAccepting();
  /// Asks all clients to leave.
  void GoAway();
  std::size_t Connections() const { return connections_.size(); }
  /// Runs after the requests of a turn and before the sockets are flushed.
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
