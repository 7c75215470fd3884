#include "services/launcher/commands/probe.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>

namespace apimesh::launcher {
namespace {

struct Socket {
  int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ~Socket() {
    if (file >= 0) ::close(file);
  }
};

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

}  // namespace

bool HttpsAnswers200(const std::string& host, int port, const std::string& path) {
  Socket socket;
  const timeval limit{1, 0};
  ::setsockopt(socket.file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.file, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in address = Loopback(port);
  if (host != "0.0.0.0" && host != "::") ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  if (::connect(socket.file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;

  static SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context), &SSL_free);
  SSL_set_fd(ssl.get(), socket.file);
  if (SSL_connect(ssl.get()) != 1) return false;
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: apimesh-launcher\r\nConnection: close\r\n\r\n", path);
  if (SSL_write(ssl.get(), request.data(), static_cast<int>(request.size())) <= 0) return false;
  char answer[64];
  const int got = SSL_read(ssl.get(), answer, sizeof answer);
  return got >= 12 && std::string_view(answer, 12) == "HTTP/1.1 200";
}

int FreePort() {
  Socket socket;
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  if (::bind(socket.file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::getsockname(socket.file, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no free port on 127.0.0.1");
  }
  return ntohs(address.sin_port);
}

}  // namespace apimesh::launcher
