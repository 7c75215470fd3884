#include "lib/grpc/dial.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/async/suspend.h"
#include "lib/net/pacing.h"

namespace apimesh::grpc {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
constexpr std::string_view kUnix = "unix:";

struct HostPort {
  std::string host, port;
};

HostPort Split(std::string_view target) {
  if (target.starts_with("dns:///")) target.remove_prefix(7);
  const std::size_t colon = target.rfind(':');
  std::string_view host = target.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host),
          colon == std::string_view::npos ? std::string("443") : std::string(target.substr(colon + 1))};
}

std::string Join(const tcp::endpoint& endpoint) {
  const auto address = endpoint.address();
  return fmt::format(fmt::runtime(address.is_v6() ? "[{}]:{}" : "{}:{}"), address.to_string(), endpoint.port());
}

/// Waits until the socket is ready for another attempt, or the time limit closes it.
Task<> WaitFor(net::Transport& transport, bool writable) {
  auto start = [&transport, writable](Waiter<bool> waiter) {
    auto shared = std::make_shared<Waiter<bool>>(std::move(waiter));
    auto done = [shared] { std::move(*shared).Resume(true); };
    if (writable) {
      transport.WaitWritable(std::move(done));
    } else {
      transport.WaitReadable(std::move(done));
    }
  };
  co_await Suspend<bool>(std::move(start));
}

int ConnectSocket(const std::string& address, int& fd) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (std::string_view(address).starts_with(kUnix)) {
    auto& name = reinterpret_cast<sockaddr_un&>(storage);
    name.sun_family = AF_UNIX;
    const std::string path = address.substr(kUnix.size());
    if (path.size() >= sizeof(name.sun_path)) return ENAMETOOLONG;
    std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
    size = sizeof(name);
    if (path.starts_with('@')) {  // an abstract socket: its name has exactly this length and begins with a zero byte
      name.sun_path[0] = '\0';
      size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    }
  } else {
    const HostPort parts = Split(address);
    const tcp::endpoint endpoint(asio::ip::make_address(parts.host),
                                 static_cast<unsigned short>(std::stoi(parts.port)));
    std::memcpy(&storage, endpoint.data(), endpoint.size());
    size = static_cast<socklen_t>(endpoint.size());
  }
  fd = ::socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  if (storage.ss_family != AF_UNIX && net::IsLocal({}, storage)) net::DoNotPace(fd);
  return ::connect(fd, reinterpret_cast<sockaddr*>(&storage), size) == 0 ? 0 : errno;
}

/// Whether the process that listens on the Unix socket runs as the user of this process.
bool ServedBySameUser(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

/// Closes the socket when the time limit expires, which ends all waits for it.
struct TimeLimit {
  net::Transport* open;  // null: no longer owned by the dial
  bool expired = false;
};

Task<bool> ShakeHands(net::Transport& transport, std::shared_ptr<TimeLimit> limit) {
  for (;;) {
    const auto state = transport.TryHandshake();
    if (state == net::Transport::Handshake::kDone) co_return true;
    if (state == net::Transport::Handshake::kFailed || limit->expired) co_return false;
    co_await WaitFor(transport, state == net::Transport::Handshake::kWantWrite);
  }
}

}  // namespace

bool IsName(const std::string& target) {
  boost::system::error_code failure;
  if (std::string_view(target).starts_with(kUnix)) return false;
  asio::ip::make_address(Split(target).host, failure);
  return failure.failed();
}

Task<std::vector<Address>> LookUp(std::string target, bool has_dialer, std::string& why) {
  std::vector<Address> addresses;
  for (std::size_t begin = 0; begin <= target.size();) {
    const std::size_t end = std::min(target.find(',', begin), target.size());
    const std::string one = target.substr(begin, end - begin);
    begin = end + 1;
    if (std::string_view(one).starts_with(kUnix)) {
      addresses.push_back({one, "localhost"});
      continue;
    }
    const HostPort parts = Split(one);
    boost::system::error_code failure;
    if (IsName(one) && has_dialer) {
      addresses.push_back({fmt::format("{}:{}", parts.host, parts.port), parts.host});
      continue;
    }
    if (!IsName(one)) {
      const auto ip = asio::ip::make_address(parts.host, failure);
      addresses.push_back(
          {Join(tcp::endpoint(ip, static_cast<unsigned short>(std::atoi(parts.port.c_str())))), parts.host});
      continue;
    }
    tcp::resolver resolver(co_await asio::this_coro::executor);
    const auto found =
        co_await resolver.async_resolve(parts.host, parts.port, asio::redirect_error(asio::use_awaitable, failure));
    for (const auto& entry : found) addresses.push_back({Join(entry.endpoint()), parts.host});
    if (failure) why = fmt::format("lookup {}: {}", parts.host, failure.message());
  }
  co_return addresses;
}

Task<std::unique_ptr<net::Transport>> Dial(Address address, DialOptions options, SteadyTime deadline,
                                           std::string& why) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  net::SslPtr ssl;
  if (options.tls != nullptr && !(ssl = options.tls->NewSession(address.host, why))) co_return nullptr;
  const bool local = address.text.starts_with(kUnix);
  int fd = -1, code = 0;
  if (options.dialer && !local) {
    const http::ClientResult<int> opened = co_await options.dialer->Dial(address.text, deadline);
    if (!opened) {
      why = opened.error().message;
      co_return nullptr;
    }
    fd = *opened;
  } else {
    code = ConnectSocket(address.text, fd);
  }
  const auto failed = [&](int error) { why = fmt::format("connect {}: {}", address.text, std::strerror(error)); };
  if (fd < 0) {
    failed(code);
    co_return nullptr;
  }
  std::unique_ptr<net::Transport> transport = net::NewTransport(executor, fd, std::move(ssl), options.clock);
  if (code == 0 && options.same_user && local && !ServedBySameUser(fd)) {
    why = fmt::format("{} is served by a process of another user", address.text);
    co_return nullptr;
  }
  if (code == 0 && options.tls == nullptr) co_return transport;
  const auto limit = std::make_shared<TimeLimit>(TimeLimit{transport.get()});
  asio::steady_timer timer(executor, deadline);
  timer.async_wait([limit](const boost::system::error_code& error) {
    if (error || limit->open == nullptr) return;
    limit->expired = true;
    limit->open->Close();
  });
  if (code == EINPROGRESS) {
    co_await WaitFor(*transport, true);
    socklen_t size = sizeof(code);
    if (limit->expired) {
      code = ETIMEDOUT;
    } else {
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size);
    }
  }
  const bool connected = code == 0 && co_await ShakeHands(*transport, limit);
  limit->open = nullptr;
  if (code != 0) {
    failed(code);
    co_return nullptr;
  }
  if (!connected) {
    why = limit->expired ? fmt::format("connect {}: TLS handshake timed out", address.text)
                         : "tls: " + transport->Error();
    co_return nullptr;
  }
  co_return transport;
}

}  // namespace apimesh::grpc
