#include "lib/http/proxy/relay.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <sys/socket.h>

namespace apimesh::http {
namespace {

namespace asio = boost::asio;
using ConnectionPtr = std::shared_ptr<ClientConnection>;

/// Ends when either connection ends, and closes both, which ends the copy in the other direction.
Task<> Copy(ConnectionPtr from, ConnectionPtr to) {
  for (;;) {
    if (from->Unread().empty()) {
      const bool more = co_await from->ReadMore();
      if (!more) break;
    }
    std::vector<std::string_view> pieces{from->Unread()};
    const std::size_t size = pieces.front().size();
    const bool written = co_await to->Write(std::move(pieces));
    if (!written) break;
    from->Consume(size);
  }
  from->Close();
  to->Close();
}

}  // namespace

Task<int> StartRelay(ConnectionPtr connection, const Clock& clock) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets) != 0) co_return -1;
  const ConnectionPtr local = ClientConnection::Over(executor, sockets[0], nullptr, clock);
  asio::co_spawn(executor, Copy(connection, local), asio::detached);
  asio::co_spawn(executor, Copy(local, connection), asio::detached);
  co_return sockets[1];
}

}  // namespace apimesh::http
