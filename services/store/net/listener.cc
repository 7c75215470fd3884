#include "services/store/net/listener.h"

#include <cstring>
#include <stdexcept>
#include <system_error>

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "services/store/net/connection.h"

namespace apimesh::store {
namespace {

[[noreturn]] void Fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

int ListenTcp(const ListenUrl& url) {
  addrinfo hints{.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(url.host.empty() ? nullptr : url.host.c_str(), url.port.c_str(), &hints, &found)) {
    throw std::invalid_argument("cannot resolve " + url.host + ": " + gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) Fail("socket");
  const int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 1024) != 0) {
    const int error = errno;
    close(fd);
    errno = error;
    Fail("listen on " + url.host + ":" + url.port);
  }
  return fd;
}

int ListenUnix(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX};
  if (path.size() >= sizeof address.sun_path) throw std::invalid_argument("socket path is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) Fail("socket");
  unlink(path.c_str());
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || chmod(path.c_str(), 0600) != 0 ||
      listen(fd, 1024) != 0) {
    const int error = errno;
    close(fd);
    errno = error;
    Fail("listen on " + path);
  }
  return fd;
}

}  // namespace

ListenUrl ListenUrl::Parse(std::string_view url) {
  ListenUrl parsed;
  if (url.starts_with("unix://") || url.starts_with("unixs://")) {
    parsed.tls = url.starts_with("unixs://");
    parsed.unix_path = url.substr(url.find("://") + 3);
    return parsed;
  }
  parsed.tls = url.starts_with("https://");
  if (!parsed.tls && !url.starts_with("http://")) {
    throw std::invalid_argument("URL scheme must be http, https, unix, or unixs: " + std::string(url));
  }
  std::string_view rest = url.substr(parsed.tls ? 8 : 7);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || rest.find('/') != std::string_view::npos) {
    throw std::invalid_argument("URL address does not have the form \"host:port\": " + std::string(url));
  }
  parsed.host = rest.substr(0, colon);
  parsed.port = rest.substr(colon + 1);
  if (parsed.host.starts_with('[') && parsed.host.ends_with(']'))
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  return parsed;
}

class Listener::Acceptor final : public FdHandler {
 public:
  Acceptor(Listener& listener, int fd, std::string unix_path, std::shared_ptr<TlsServerContext> tls)
      : listener_(listener), fd_(fd), unix_path_(std::move(unix_path)), tls_(std::move(tls)) {
    listener_.loop_.Add(fd_, EPOLLIN, this);
  }
  ~Acceptor() override {
    listener_.loop_.Remove(fd_);
    close(fd_);
    if (!unix_path_.empty()) unlink(unix_path_.c_str());
  }

  void OnEvents(std::uint32_t) override {
    for (;;) {
      const int client = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (client < 0) return;
      const int one = 1;
      if (unix_path_.empty()) setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);  // detects clients that disappeared
      listener_.Accepted(client, tls_.get());
    }
  }

 private:
  Listener& listener_;
  int fd_;
  std::string unix_path_;
  std::shared_ptr<TlsServerContext> tls_;
};

Listener::Listener(EventLoop& loop, Routes routes) : loop_(loop), routes_(std::move(routes)) {}
Listener::~Listener() = default;

int Listener::Listen(const ListenUrl& url, std::shared_ptr<TlsServerContext> tls) {
  const bool local = !url.unix_path.empty();
  const int fd = local ? ListenUnix(url.unix_path) : ListenTcp(url);
  acceptors_.push_back(std::make_unique<Acceptor>(*this, fd, url.unix_path, url.tls ? std::move(tls) : nullptr));
  if (local) return 0;
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

void Listener::Accepted(int fd, TlsServerContext* tls) {
  std::unique_ptr<ByteStream> stream;
  if (tls != nullptr) {
    SSL_CTX* context = tls->Current();
    if (context == nullptr) {
      close(fd);
      return;
    }
    stream = TlsStream(fd, context, true);
  } else {
    stream = PlainStream(fd);
  }
  const auto connection =
      std::make_shared<Connection>(loop_, std::move(stream), routes_,
                                   Connection::Events{.wants_flush = [this](Connection& c) { WantsFlush(c); },
                                                      .closed = [this](Connection& c) { Closed(c); }});
  connections_.emplace(connection.get(), connection);
}

void Listener::WantsFlush(Connection& connection) {
  if (connection.flush_pending) return;
  connection.flush_pending = true;
  to_flush_.push_back(&connection);
}

void Listener::FlushAll() {
  // A flush may drain a stream, whose handler then queues more output, so this repeats until no connection is left.
  while (!to_flush_.empty()) {
    std::vector<Connection*> batch;
    batch.swap(to_flush_);
    for (Connection* connection : batch) {
      connection->flush_pending = false;
      connection->Flush();
    }
  }
}

void Listener::Closed(Connection& connection) {
  const auto found = connections_.find(&connection);
  if (found == connections_.end()) return;
  if (connection.flush_pending) std::erase(to_flush_, &connection);
  loop_.DestroyAfterTurn(std::move(found->second));
  connections_.erase(found);
}

void Listener::StopAccepting() { acceptors_.clear(); }

void Listener::GoAway() {
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& [raw, connection] : connections_) all.push_back(connection);
  for (const auto& connection : all) connection->GoAway();
}

}  // namespace apimesh::store
