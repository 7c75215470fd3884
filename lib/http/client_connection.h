#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/http/client.h"
#include "lib/http/transport.h"

namespace apimesh::http {

/// An address taken apart.
struct Url {
  bool tls = false;
  std::string host;       // without brackets
  std::string port;       // digits
  std::string authority;  // as written: the Host header
  std::string target;     // "/path?query"
};
ClientResult<Url> ParseUrl(const std::string& text);

/// One connection to a server, used by one call at a time.
class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  using WatchFn = std::function<void(std::shared_ptr<ClientConnection>)>;
  /// Resolves the host once, checks its addresses by the options, connects and shakes hands. `watch` gets each connection that is
  /// tried, to Close() it when time is up. The caller keeps `options` and `tls` until the task is done.
  static Task<ClientResult<std::shared_ptr<ClientConnection>>> Open(Url url, const ClientOptions& options, ClientTls& tls, WatchFn watch);

  Task<bool> Write(std::vector<std::string_view> pieces);
  /// Adds to Unread(); false at the end of the stream or after a failure.
  Task<bool> ReadMore();
  std::string_view Unread() const { return std::string_view(in_).substr(in_start_); }
  void Consume(std::size_t size);
  /// A connection at rest belongs to no executor, so it may outlive the one it was used on.
  Transport::Detached Detach() { return transport_->Detach(); }
  /// Null if something has come in meanwhile, or it was closed.
  static std::shared_ptr<ClientConnection> Reuse(boost::asio::any_io_executor executor, Transport::Detached resting);
  void Close();
  bool Closed() const { return closed_; }

 private:
  Task<> WaitReadable();
  Task<> WaitWritable();
  Task<bool> Handshake();

  std::unique_ptr<Transport> transport_;
  std::string in_;
  std::size_t in_start_ = 0;
  bool closed_ = false;
};

}  // namespace apimesh::http
