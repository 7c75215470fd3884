#include "lib/net/listen_socket.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/net/pacing.h"

namespace apimesh::net {
namespace {

constexpr int kBacklog = 4096;

[[noreturn]] void Fail(const std::string& where, int fd, int error) {
  if (fd >= 0) ::close(fd);
  throw std::runtime_error(fmt::format("can't listen on {}: {}", where, std::strerror(error)));
}

ListenSocket OpenUnix(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(name.sun_path)) Fail("unix:" + path, -1, ENAMETOOLONG);
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  ::unlink(path.c_str());
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(fd, kBacklog) != 0) {
    Fail("unix:" + path, fd, errno);
  }
  return {fd, 0};
}

std::string Format(const sockaddr_storage& name) {
  char text[INET6_ADDRSTRLEN] = "";
  if (name.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(name);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
    return fmt::format("{}:{}", text, ntohs(v4.sin_port));
  }
  if (name.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(name);
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
      inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof(text));
      return fmt::format("{}:{}", text, ntohs(v6.sin6_port));
    }
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
    return fmt::format("[{}]:{}", text, ntohs(v6.sin6_port));
  }
  return "unix";
}

}  // namespace

ListenSocket OpenListenSocket(const std::string& address, int port, bool share_port) {
  if (address.starts_with("unix:")) return OpenUnix(address.substr(5));
  const std::string where = fmt::format("{}:{}", address, port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error =
          getaddrinfo(address.empty() ? nullptr : address.c_str(), std::to_string(port).c_str(), &hints, &found)) {
    throw std::runtime_error(fmt::format("can't listen on {}: {}", where, gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1, off = 0;
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (fd >= 0 && share_port) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  if (fd >= 0) DoNotPace(fd);
  if (fd >= 0 && found->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (fd < 0 || ::bind(fd, found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd, kBacklog) != 0)
    Fail(where, fd, errno);
  sockaddr_storage name{};
  socklen_t size = sizeof(name);
  getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
  const auto bound = name.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(name).sin_port
                                               : reinterpret_cast<sockaddr_in6&>(name).sin6_port;
  return {fd, ntohs(bound)};
}

AcceptedSocket AcceptOne(int listen_fd) {
  sockaddr_storage name{};
  socklen_t size = sizeof(name);
  int fd;
  do {
    fd = ::accept4(listen_fd, reinterpret_cast<sockaddr*>(&name), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
  if (fd < 0) return {-1, "", errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM};
  PaceUnlessLocal(fd, name);
  return {fd, Format(name)};
}

}  // namespace apimesh::net
