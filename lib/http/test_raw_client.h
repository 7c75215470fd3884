#pragma once

#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace apimesh::http {

/// Connects a blocking socket to a port of this machine. Its calls fail after 10 seconds.
inline int ConnectTo(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  const timeval limit{10, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  return fd;
}

/// A blocking socket with which a test controls exactly which bytes are sent.
class RawClient {
 public:
  explicit RawClient(int port) : fd_(ConnectTo(port)) {}
  ~RawClient() { Close(); }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void ShutdownWrite() { ::shutdown(fd_, SHUT_WR); }
  void Send(std::string_view data) {
    ASSERT_EQ(::send(fd_, data.data(), data.size(), MSG_NOSIGNAL), static_cast<ssize_t>(data.size()));
  }
  /// Reads until `end` is received; if `end` is empty, until the server closes the connection.
  std::string ReadUntil(std::string_view end) {
    std::string all;
    char buffer[4096];
    while (end.empty() || all.find(end) == std::string::npos) {
      const ssize_t size = ::recv(fd_, buffer, sizeof(buffer), 0);
      if (size <= 0) break;
      all.append(buffer, size);
    }
    return all;
  }

  /// Sends the data; returns false if the server does not accept all of it within 200 ms, or has closed the connection.
  bool TrySend(std::string_view data) {
    const timeval limit{0, 200'000};
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    while (!data.empty()) {
      const ssize_t sent = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      data.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

 private:
  int fd_;
};

}  // namespace apimesh::http
