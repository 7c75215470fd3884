#pragma once

#include <string>

namespace apimesh::net {

struct ListenSocket {
  int fd = -1;
  int port = 0;
};
/// `address` is an IP address, a host name or "unix:/path" (an existing socket there is replaced; mode 0600). Throws
/// std::runtime_error. `share_port`: other processes may listen on the same port (SO_REUSEPORT).
ListenSocket OpenListenSocket(const std::string& address, int port, bool share_port = false);

struct AcceptedSocket {
  int fd = -1;  // < 0: no connection to accept
  std::string address;
  bool out_of_descriptors = false;
};
AcceptedSocket AcceptOne(int listen_fd);

}  // namespace apimesh::net
