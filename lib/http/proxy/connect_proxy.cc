#include "lib/http/proxy/connect_proxy.h"

#include <algorithm>
#include <stdexcept>

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "lib/http/client_connection.h"
#include "lib/http/message_parser.h"
#include "lib/http/proxy/relay.h"

namespace apimesh::http {
namespace {

namespace asio = boost::asio;
using Code = ClientError::Code;
using ConnectionPtr = std::shared_ptr<ClientConnection>;

constexpr std::size_t kHeadBytes = 64 << 10;

/// The first line of a response without the version: "407 Proxy Authentication Required".
std::string StatusOf(std::string_view head) {
  const std::string_view line = head.substr(0, head.find_first_of("\r\n"));
  const std::size_t blank = line.find(' ');
  return blank == std::string_view::npos ? std::string() : std::string(line.substr(blank + 1));
}

class ConnectProxy final : public Dialer {
 public:
  explicit ConnectProxy(ConnectProxyOptions options)
      : options_(std::move(options)), client_{.clock = options_.clock}, tls_(options_.tls, options_.clock) {
    if (options_.url.empty()) {
      shown_ = options_.socket_path;
      return;
    }
    const ClientResult<Url> url = ParseUrl(options_.url);
    if (!url) throw std::invalid_argument(url.error().message);
    url_ = *url;
    shown_ = url_.authority;
  }

  Task<ClientResult<int>> Dial(std::string address, SteadyTime deadline) override {
    const SteadyTime begun = options_.clock.Steady();
    deadline = std::min(deadline, begun + kLongestDial);
    options_.started();
    DeadlineTimer timer(co_await asio::this_coro::executor, deadline);
    const ClientConnection::WatchFn watch = [&timer](ConnectionPtr connection) { timer.Watch(std::move(connection)); };
    Task<ClientResult<ConnectionPtr>> open =
        options_.url.empty() ? ClientConnection::OpenSocket(options_.socket_path, options_.clock, watch)
                             : ClientConnection::Open(url_, client_, tls_, watch, deadline);
    ClientResult<ConnectionPtr> opened = co_await std::move(open);
    if (!opened) {
      options_.failed("connect");
      co_return timer.Expired() ? ClientError{Code::kTimeout, fmt::format("dial {}: i/o timeout", shown_)}
                                : opened.error();
    }
    const std::string refusal = co_await Ask(*opened, address);
    int socket = -1;
    if (refusal.empty()) {
      timer.Watch(nullptr);
      if ((*opened)->HasTls()) {
        socket = co_await StartRelay(*opened, options_.clock);
      } else {
        socket = (*opened)->Detach().fd;
      }
    }
    if (socket < 0) {
      options_.failed("proxy");
      const bool late = timer.Expired();
      co_return ClientError{late ? Code::kTimeout : Code::kConnect,
                            late || !refusal.empty() ? refusal : "too many open files"};
    }
    options_.connected(options_.clock.Steady() - begun);
    co_return socket;
  }

 private:
  /// Asks for a connection to `address`. Returns the error; "" if the proxy has opened it.
  Task<std::string> Ask(ConnectionPtr connection, std::string address) const {
    const std::string request = fmt::format("CONNECT {} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", address);
    std::vector<std::string_view> pieces{request};
    co_await connection->Write(std::move(pieces));  // a proxy may refuse before it has read everything
    ResponseParser parser(true, kHeadBytes, [](std::string_view) {});
    std::string status;
    const auto failure = [&](std::string_view why) {
      return fmt::format("reading HTTP response from CONNECT to {} via proxy {} failed: {}", address, shown_, why);
    };
    for (;;) {
      if (parser.Done()) break;
      const bool more = co_await connection->ReadMore();
      if (!more) co_return failure("unexpected EOF");
      if (status.empty()) status = StatusOf(connection->Unread());
      connection->Consume(parser.Feed(connection->Unread()));
      if (parser.Failed() || connection->Unread().size() > kHeadBytes) co_return failure("malformed HTTP response");
    }
    if (parser.Code() != 200)
      co_return fmt::format("proxy error from {} while dialing {}, code {}: {}", shown_, address, parser.Code(),
                            status);
    // The client sends first, so these bytes do not come from the server.
    if (!connection->Unread().empty()) {
      co_return fmt::format("unexpected {} bytes of buffered data from CONNECT proxy \"{}\"",
                            connection->Unread().size(), shown_);
    }
    co_return "";
  }

  const ConnectProxyOptions options_;
  const ClientOptions client_;
  net::ClientTls tls_;
  Url url_;
  std::string shown_;
};

}  // namespace

std::shared_ptr<Dialer> NewConnectProxy(ConnectProxyOptions options) {
  return std::make_shared<ConnectProxy>(std::move(options));
}

}  // namespace apimesh::http
