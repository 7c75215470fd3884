#include "services/launcher/commands/probe.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>

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

int HttpsStatus(const std::string& host, int port, const std::string& path, const ClientCertificate* client) {
  Socket socket;
  const timeval limit{1, 0};
  ::setsockopt(socket.file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.file, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in address = Loopback(port);
  if (host != "0.0.0.0" && host != "::") ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  if (::connect(socket.file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return 0;

  static SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context), &SSL_free);
  if (client && (SSL_use_certificate_file(ssl.get(), client->certificate_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
                 SSL_use_PrivateKey_file(ssl.get(), client->key_file.c_str(), SSL_FILETYPE_PEM) != 1)) {
    return 0;
  }
  SSL_set_fd(ssl.get(), socket.file);
  if (SSL_connect(ssl.get()) != 1) return 0;
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: apimesh-launcher\r\nConnection: close\r\n\r\n", path);
  if (SSL_write(ssl.get(), request.data(), static_cast<int>(request.size())) <= 0) return 0;
  char answer[64];
  const int got = SSL_read(ssl.get(), answer, sizeof answer);
  const std::string_view line(answer, static_cast<std::size_t>(std::max(got, 0)));
  return line.size() >= 12 && line.starts_with("HTTP/1.1 ") ? std::atoi(std::string(line.substr(9, 3)).c_str()) : 0;
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
