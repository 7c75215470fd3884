#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/socket.h>

#include "lib/http/client.h"
#include "lib/http/proxy/dialer.h"
#include "lib/net/transport.h"

namespace apimesh::http {

/// A parsed URL.
struct Url {
  bool tls = false;
  std::string host;       // without brackets
  std::string port;       // digits
  std::string authority;  // as written in the URL: the Host header
  std::string target;     // "/path?query"
};
ClientResult<Url> ParseUrl(const std::string& text);

/// One connection to a server, used by one call at a time.
class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  using WatchFn = std::function<void(std::shared_ptr<ClientConnection>)>;
  /// Resolves the host once, checks its addresses against the options, connects, and performs the TLS handshake.
  /// `watch` receives each connection that is tried, so that the caller can Close() it at its deadline. If the options'
  /// network has a dialer, that connects until `deadline`, and looks up the host unless the options check addresses.
  /// `options` and `tls` must stay valid until the task is done.
  static Task<ClientResult<std::shared_ptr<ClientConnection>>> Open(Url url, const ClientOptions& options,
                                                                    net::ClientTls& tls, WatchFn watch,
                                                                    SteadyTime deadline);
  /// Connects to a Unix socket.
  static Task<ClientResult<std::shared_ptr<ClientConnection>>> OpenSocket(std::string path, const Clock& clock,
                                                                          WatchFn watch);
  /// Takes ownership of a connected non-blocking socket. With TLS, the handshake must have been made.
  static std::shared_ptr<ClientConnection> Over(boost::asio::any_io_executor executor, int socket, net::SslPtr ssl,
                                                const Clock& clock);

  Task<bool> Write(std::vector<std::string_view> pieces);
  /// Appends to Unread(); returns false at the end of the stream or after a failure.
  Task<bool> ReadMore();
  std::string_view Unread() const { return std::string_view(in_).substr(in_start_); }
  void Consume(std::size_t size);
  /// Detaches an idle connection from its executor, so that it may outlive the executor.
  net::Transport::Detached Detach() { return transport_->Detach(); }
  /// Returns nullptr if the connection was closed, or has received bytes while it was idle.
  static std::shared_ptr<ClientConnection> Reuse(boost::asio::any_io_executor executor,
                                                 net::Transport::Detached resting, const Clock& clock);
  bool HasTls() const { return has_tls_; }
  void Close();
  bool Closed() const { return closed_; }

 private:
  template <class Handler>
  void CloseOnCancel(Handler& handler);
  Task<> WaitReadable();
  Task<> WaitWritable();
  Task<bool> Handshake();
  static Task<ClientResult<std::shared_ptr<ClientConnection>>> OpenThrough(std::shared_ptr<Dialer> dialer, Url url,
                                                                           const ClientOptions& options,
                                                                           net::ClientTls& tls, WatchFn watch,
                                                                           SteadyTime deadline);
  /// Connects to one address and performs the handshake, if `ssl` is set. `shown` is the address in errors.
  static Task<ClientResult<std::shared_ptr<ClientConnection>>> Connect(const sockaddr* address, socklen_t size,
                                                                       std::string shown, net::SslPtr ssl,
                                                                       const Clock& clock, WatchFn watch);

  std::unique_ptr<net::Transport> transport_;
  std::string in_;
  std::size_t in_start_ = 0;
  bool closed_ = false;
  bool has_tls_ = false;
};

/// Closes the connection of a call at its deadline. The timer and the call must not run concurrently: both use
/// `executor`, which has one thread or is a strand.
class DeadlineTimer {
 public:
  DeadlineTimer(boost::asio::any_io_executor executor, SteadyTime deadline)
      : state_(std::make_shared<State>(executor)) {
    if (deadline == SteadyTime::max()) return;
    state_->timer.expires_at(deadline);
    state_->timer.async_wait([state = state_](const boost::system::error_code& error) {
      if (error) return;
      state->expired = true;
      if (state->connection) state->connection->Close();
    });
  }
  ~DeadlineTimer() {
    state_->connection = nullptr;
    state_->timer.cancel();
  }
  DeadlineTimer(const DeadlineTimer&) = delete;
  void Watch(std::shared_ptr<ClientConnection> connection) {
    state_->connection = std::move(connection);
    if (state_->expired && state_->connection) state_->connection->Close();
  }
  bool Expired() const { return state_->expired; }

 private:
  struct State {
    explicit State(const boost::asio::any_io_executor& executor) : timer(executor) {}
    boost::asio::steady_timer timer;
    std::shared_ptr<ClientConnection> connection;
    bool expired = false;
  };
  std::shared_ptr<State> state_;
};

}  // namespace apimesh::http
