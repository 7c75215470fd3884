#pragma once

#include <span>
#include <string_view>

namespace apimesh::http {

/// Bytes for one socket, and what became of them.
struct SocketSend {
  int fd = -1;
  std::string_view bytes;
  long result = 0;  // how many the socket took, or the negative errno
};

/// Sends to many sockets, each once and without waiting, by one system call (io_uring) where the kernel lets us, and by one each
/// where it does not. No socket may be named twice: the second might overtake the rest of the first.
void SendAll(std::span<SocketSend> sends);

/// The same by one system call each.
void SendOneByOne(std::span<SocketSend> sends);

}  // namespace apimesh::http
