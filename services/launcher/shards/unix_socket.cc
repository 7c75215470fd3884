#include "services/launcher/shards/unix_socket.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "services/launcher/shards/shards.h"

namespace apimesh::launcher::shards {
namespace {

constexpr std::size_t kMaxLine = 64 << 10, kMaxResponse = 1 << 20;

class Connection {
 public:
  explicit Connection(int file) : file_(file) {
    const timeval limit{1, 0};
    ::setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(file_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }
  ~Connection() {
    if (file_ >= 0) ::close(file_);
  }
  Connection(const Connection&) = delete;
  int Get() const { return file_; }

  bool Send(const std::string& text) const {
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t n = ::send(file_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<std::size_t>(n);
    }
    return true;
  }
  /// Reads until `last` has arrived, the sender has closed the connection, or `limit` bytes have been read.
  std::string Read(char last, std::size_t limit) const {
    std::string text;
    char buffer[4096];
    while (text.size() < limit) {
      const ssize_t n = ::recv(file_, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      text.append(buffer, static_cast<std::size_t>(n));
      if (last != '\0' && text.find(last) != std::string::npos) break;
    }
    return text;
  }

 private:
  const int file_;
};

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error(fmt::format("{} is too long", path));
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

/// Whether a process of this user has opened the connection.
bool IsOwn(int file) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

}  // namespace

ControlSocket::ControlSocket(std::string path)
    : path_(std::move(path)), file_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_un address = AddressOf(path_);
  ::unlink(path_.c_str());
  const mode_t mask = ::umask(0177);
  const int bound = ::bind(file_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(mask);
  if (bound != 0 || ::listen(file_, 8) != 0) {
    const int error = errno;
    ::close(file_);
    throw std::runtime_error(fmt::format("can't listen at {}: {}", path_, std::strerror(error)));
  }
}

ControlSocket::~ControlSocket() {
  ::close(file_);
  ::unlink(path_.c_str());
}

void ControlSocket::Serve(const std::function<std::string(const std::string& line)>& answer) const {
  const Connection client(::accept4(file_, nullptr, nullptr, SOCK_CLOEXEC));
  if (client.Get() < 0 || !IsOwn(client.Get())) return;
  std::string line = client.Read('\n', kMaxLine);
  const std::size_t end = line.find('\n');
  if (end == std::string::npos) return;
  client.Send(answer(line.substr(0, end)) + "\n");
}

std::string Exchange(const std::string& path, const std::string& text) {
  const sockaddr_un address = AddressOf(path);
  const Connection server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(server.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return "";
  if (!server.Send(text)) return "";
  return server.Read('\0', kMaxResponse);
}

bool IsReady(const std::string& health_socket) {
  return Exchange(health_socket, "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      .starts_with("HTTP/1.1 200");
}

}  // namespace apimesh::launcher::shards
