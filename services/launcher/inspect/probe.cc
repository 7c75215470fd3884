#include "services/launcher/inspect/probe.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <arpa/inet.h>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

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

/// A TLS connection on which one GET request has been sent.
class Request {
 public:
  Request(const std::string& host, int port, const std::string& path, const ClientCertificate* client) {
    const timeval limit{1, 0};
    ::setsockopt(socket_.file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_.file, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address = Loopback(port);
    if (host != "0.0.0.0" && host != "::") ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    if (::connect(socket_.file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;

    static SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    ssl_.reset(SSL_new(context));
    if (client && (SSL_use_certificate_file(ssl_.get(), client->certificate_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
                   SSL_use_PrivateKey_file(ssl_.get(), client->key_file.c_str(), SSL_FILETYPE_PEM) != 1)) {
      return;
    }
    SSL_set_fd(ssl_.get(), socket_.file);
    if (SSL_connect(ssl_.get()) != 1) return;
    const std::string request = fmt::format(
        "GET {} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: apimesh-launcher\r\nConnection: close\r\n\r\n", path);
    sent_ = SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size())) > 0;
  }

  /// Returns the next bytes of the response; empty at its end and after an error.
  std::string_view Read() {
    if (!sent_) return {};
    const int got = SSL_read(ssl_.get(), buffer_.data(), static_cast<int>(buffer_.size()));
    return {buffer_.data(), static_cast<std::size_t>(std::max(got, 0))};
  }

 private:
  Socket socket_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, &SSL_free};
  bool sent_ = false;
  std::array<char, 16 * 1024> buffer_;  // the size of a TLS record
};

}  // namespace

int HttpsStatus(const std::string& host, int port, const std::string& path, const ClientCertificate* client) {
  Request request(host, port, path, client);
  const std::string_view line = request.Read();
  return line.size() >= 12 && line.starts_with("HTTP/1.1 ") ? std::atoi(std::string(line.substr(9, 3)).c_str()) : 0;
}

std::string HttpsBody(const std::string& host, int port, const std::string& path, const ClientCertificate& client) {
  namespace http = boost::beast::http;
  Request request(host, port, path, &client);
  http::response_parser<http::string_body> parser;
  parser.eager(true);
  parser.body_limit(16 * 1024 * 1024);
  boost::system::error_code error;
  std::string pending;  // bytes that the parser can't use without those that follow
  while (!parser.is_done()) {
    const std::string_view bytes = request.Read();
    if (bytes.empty()) return "";
    pending += bytes;
    pending.erase(0, parser.put(boost::asio::buffer(pending), error));
    if (error && error != http::error::need_more) return "";
  }
  return parser.get().result() == http::status::ok ? std::move(parser.get().body()) : "";
}

std::optional<Address> ParseServer(const std::string& url) {
  constexpr std::string_view kScheme = "https://";
  const std::size_t colon = url.rfind(':');
  if (!url.starts_with(kScheme) || colon < kScheme.size()) return std::nullopt;
  return Address{url.substr(kScheme.size(), colon - kScheme.size()), std::atoi(url.c_str() + colon + 1)};
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
