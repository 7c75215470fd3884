#include "lib/http/client_connection.h"

#include <cerrno>
#include <charconv>
#include <cstring>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/http/resolve.h"

namespace apimesh::http {
namespace {
namespace asio = boost::asio;
constexpr std::size_t kScratchBytes = 32 << 10;

ClientError Error(ClientError::Code code, std::string message) { return {code, std::move(message)}; }

bool IsPort(std::string_view text) {
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size() && number <= 65535;
}
}  // namespace

ClientResult<Url> ParseUrl(const std::string& text) {
  const auto bad = [&text](const char* why) {
    return Error(ClientError::Code::kProtocol, fmt::format("bad URL \"{}\": {}", text, why));
  };
  Url url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    url.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return bad("it must start with http:// or https://");
  }
  for (const char c : rest) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) return bad("it has a blank or control character");
  }
  const std::size_t slash = rest.find_first_of("/?#");
  std::string_view authority = rest.substr(0, slash);
  url.target = slash == std::string_view::npos ? "/" : std::string(rest.substr(slash, rest.find('#') - slash));
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  if (authority.find('@') != std::string_view::npos) return bad("credentials belong into a header");
  url.authority = authority;
  std::size_t colon = authority.rfind(':');
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return bad("missing ]");
    url.host = authority.substr(1, bracket - 1);
    colon = bracket + 1 < authority.size() && authority[bracket + 1] == ':' ? bracket + 1 : std::string_view::npos;
  } else {
    url.host = authority.substr(0, colon);
  }
  url.port = colon == std::string_view::npos ? (url.tls ? "443" : "80") : std::string(authority.substr(colon + 1));
  if (url.host.empty() || url.port.empty()) return bad("no host");
  if (!IsPort(url.port)) return bad("invalid port");
  return url;
}

Task<ClientResult<std::shared_ptr<ClientConnection>>> ClientConnection::Open(Url url, const ClientOptions& options,
                                                                             net::ClientTls& tls, WatchFn watch,
                                                                             SteadyTime deadline) {
  if (const std::shared_ptr<Dialer> dialer = DialerOf(options.network))
    co_return co_await OpenThrough(dialer, std::move(url), options, tls, std::move(watch), deadline);
  const ClientResult<std::vector<IpAddress>> found = co_await AllowedAddresses(url.host, options);
  if (!found) co_return found.error();
  ClientResult<std::shared_ptr<ClientConnection>> last =
      Error(ClientError::Code::kLookup, fmt::format("lookup {}: no such host", url.host));
  for (const IpAddress& address : *found) {
    const asio::ip::tcp::endpoint endpoint(address, static_cast<unsigned short>(std::stoul(url.port)));
    std::string error;
    net::SslPtr ssl;
    if (url.tls && !(ssl = tls.NewSession(url.host, error))) co_return Error(ClientError::Code::kTls, error);
    std::string shown = fmt::format("tcp {}:{}", endpoint.address().to_string(), endpoint.port());
    last = co_await Connect(endpoint.data(), static_cast<socklen_t>(endpoint.size()), std::move(shown), std::move(ssl),
                            options.clock, watch);
    if (last || last.error().code != ClientError::Code::kConnect) break;
  }
  co_return last;
}

Task<ClientResult<std::shared_ptr<ClientConnection>>> ClientConnection::OpenThrough(std::shared_ptr<Dialer> dialer,
                                                                                    Url url,
                                                                                    const ClientOptions& options,
                                                                                    net::ClientTls& tls, WatchFn watch,
                                                                                    SteadyTime deadline) {
  std::string host = url.host;
  if (options.allow_address || options.resolve) {  // the proxy must not look up the name again
    const ClientResult<std::vector<IpAddress>> found = co_await AllowedAddresses(url.host, options);
    if (!found) co_return found.error();
    host = found->front().to_string();
  }
  std::string error;
  net::SslPtr ssl;
  if (url.tls && !(ssl = tls.NewSession(url.host, error))) co_return Error(ClientError::Code::kTls, error);
  const bool bracketed = host.find(':') != std::string::npos;
  std::string address = bracketed ? fmt::format("[{}]:{}", host, url.port) : fmt::format("{}:{}", host, url.port);
  const ClientResult<int> socket = co_await dialer->Dial(std::move(address), deadline);
  if (!socket) co_return socket.error();
  auto connection = Over(co_await asio::this_coro::executor, *socket, std::move(ssl), options.clock);
  watch(connection);
  if (!url.tls) co_return connection;
  const bool secured = co_await connection->Handshake();
  if (secured) co_return connection;
  co_return Error(ClientError::Code::kTls, "tls: " + connection->transport_->Error());
}

Task<ClientResult<std::shared_ptr<ClientConnection>>> ClientConnection::OpenSocket(std::string path, const Clock& clock,
                                                                                   WatchFn watch) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string shown = "unix " + path;
  if (path.size() >= sizeof(address.sun_path))
    co_return Error(ClientError::Code::kConnect, fmt::format("dial {}: {}", shown, std::strerror(ENAMETOOLONG)));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  co_return co_await Connect(reinterpret_cast<const sockaddr*>(&address), sizeof(address), shown, nullptr, clock,
                             std::move(watch));
}

Task<ClientResult<std::shared_ptr<ClientConnection>>> ClientConnection::Connect(const sockaddr* address, socklen_t size,
                                                                                std::string shown, net::SslPtr ssl,
                                                                                const Clock& clock, WatchFn watch) {
  const auto say = [&shown](int code) {
    return Error(ClientError::Code::kConnect, fmt::format("dial {}: {}", shown, std::strerror(code)));
  };
  const int fd = ::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) co_return say(errno);
  const bool handshake = ssl != nullptr;
  auto connection = Over(co_await asio::this_coro::executor, fd, std::move(ssl), clock);
  watch(connection);
  int code = ::connect(fd, address, size) == 0 ? 0 : errno;
  if (code == EINPROGRESS) {
    co_await connection->WaitWritable();
    if (connection->closed_)  // at the deadline; no other address is tried
      co_return Error(ClientError::Code::kTimeout, say(ETIMEDOUT).message);
    socklen_t length = sizeof(code);
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length);
  }
  if (code != 0) co_return say(code);
  if (!handshake) co_return connection;
  const bool secured = co_await connection->Handshake();
  if (secured) co_return connection;
  co_return Error(ClientError::Code::kTls, "tls: " + connection->transport_->Error());
}

std::shared_ptr<ClientConnection> ClientConnection::Over(asio::any_io_executor executor, int socket, net::SslPtr ssl,
                                                         const Clock& clock) {
  auto connection = std::make_shared<ClientConnection>();
  connection->has_tls_ = ssl != nullptr;
  connection->transport_ = net::NewTransport(std::move(executor), socket, std::move(ssl), clock);
  return connection;
}

Task<bool> ClientConnection::Handshake() {
  for (;;) {
    switch (transport_->TryHandshake()) {
      case net::Transport::Handshake::kDone: co_return true;
      case net::Transport::Handshake::kFailed: co_return false;
      case net::Transport::Handshake::kWantRead: co_await WaitReadable(); break;
      case net::Transport::Handshake::kWantWrite: co_await WaitWritable(); break;
    }
    if (closed_) co_return false;
  }
}

// If Asio cancels the wait (a timeout, or the loser of `||`), the connection is closed, which ends the wait.
template <class Handler>
void ClientConnection::CloseOnCancel(Handler& handler) {
  auto slot = asio::get_associated_cancellation_slot(handler);
  if (!slot.is_connected()) return;
  slot.assign([weak = weak_from_this()](asio::cancellation_type) {
    if (const auto self = weak.lock()) self->Close();
  });
}

// The caller's coroutine may run on another executor than the socket, so the waiter is dispatched to its own executor.
Task<> ClientConnection::WaitReadable() {
  auto start = [this](auto handler) {
    CloseOnCancel(handler);
    auto waiter = std::make_shared<decltype(handler)>(std::move(handler));
    transport_->WaitReadable([waiter] { asio::dispatch(asio::get_associated_executor(*waiter), std::move(*waiter)); });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(start, asio::use_awaitable);
}

Task<> ClientConnection::WaitWritable() {
  auto start = [this](auto handler) {
    CloseOnCancel(handler);
    auto waiter = std::make_shared<decltype(handler)>(std::move(handler));
    transport_->WaitWritable([waiter] { asio::dispatch(asio::get_associated_executor(*waiter), std::move(*waiter)); });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(start, asio::use_awaitable);
}

Task<bool> ClientConnection::Write(std::vector<std::string_view> pieces) {
  std::size_t first = 0;
  while (first < pieces.size()) {
    if (closed_) co_return false;
    if (pieces[first].empty()) {
      ++first;
      continue;
    }
    const long size = transport_->TryWrite(std::span<const std::string_view>(pieces).subspan(first));
    if (size == net::Transport::kWouldBlock) {
      co_await WaitWritable();
      continue;
    }
    if (size <= 0) co_return false;
    net::SkipBytes(pieces, first, static_cast<std::size_t>(size));
  }
  co_return true;
}

Task<bool> ClientConnection::ReadMore() {
  const auto scratch = std::make_unique_for_overwrite<char[]>(kScratchBytes);
  for (;;) {
    if (closed_) co_return false;
    const long size = transport_->TryRead(scratch.get(), kScratchBytes);
    if (size > 0) {
      in_.append(scratch.get(), static_cast<std::size_t>(size));
      co_return true;
    }
    if (size != net::Transport::kWouldBlock) co_return false;
    co_await WaitReadable();
  }
}

void ClientConnection::Consume(std::size_t size) {
  in_start_ += size;
  if (in_start_ < in_.size()) return;
  in_.clear();
  in_start_ = 0;
}

std::shared_ptr<ClientConnection> ClientConnection::Reuse(asio::any_io_executor executor,
                                                          net::Transport::Detached resting, const Clock& clock) {
  auto connection = Over(std::move(executor), resting.fd, std::move(resting.ssl), clock);
  char byte;
  return connection->transport_->TryRead(&byte, 1) == net::Transport::kWouldBlock ? connection : nullptr;
}

void ClientConnection::Close() {
  closed_ = true;
  transport_->Close();
}

}  // namespace apimesh::http
