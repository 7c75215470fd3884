#pragma once

#include <span>
#include <string_view>

namespace apimesh::net {

/// Bytes for one socket, and the result of sending them.
struct SocketSend {
  int fd = -1;
  std::string_view bytes;
  long result = 0;  // the number of bytes that the socket accepted, or the negative errno
};

/// Sends to many sockets, once per socket and without waiting. It uses one system call (io_uring) if the kernel allows
/// it, otherwise one call per socket. No socket may occur twice, because the second entry could overtake the rest of
/// the first.
void SendAll(std::span<SocketSend> sends);

/// The same with one system call per socket.
void SendOneByOne(std::span<SocketSend> sends);

}  // namespace apimesh::net
