#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/http/client.h"
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
  /// `watch` receives each connection that is tried, so that the caller can Close() it at its deadline. `options` and
  /// `tls` must stay valid until the task is done.
  static Task<ClientResult<std::shared_ptr<ClientConnection>>> Open(Url url, const ClientOptions& options,
                                                                    net::ClientTls& tls, WatchFn watch);

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
  void Close();
  bool Closed() const { return closed_; }

 private:
  template <class Handler>
  void CloseOnCancel(Handler& handler);
  Task<> WaitReadable();
  Task<> WaitWritable();
  Task<bool> Handshake();

  std::unique_ptr<net::Transport> transport_;
  std::string in_;
  std::size_t in_start_ = 0;
  bool closed_ = false;
};

}  // namespace apimesh::http
