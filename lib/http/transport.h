#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <cerrno>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "lib/http/server.h"
#include "lib/http/tls.h"

namespace apimesh::http {

/// A connected socket, with or without TLS, that never blocks: try, and if it would block, wait. TLS works on the
/// descriptor itself: no second buffer between OpenSSL and the kernel. Used on one executor.
class Transport {
 public:
  static constexpr long kWouldBlock = -1;
  static constexpr long kFailed = -2;
  enum class Handshake { kDone, kWantRead, kWantWrite, kFailed };

  virtual ~Transport() = default;
  /// Bytes read; 0 at the end of the stream; kWouldBlock; kFailed.
  virtual long TryRead(char* buffer, std::size_t size) = 0;
  /// True if TryRead gives data without the socket becoming readable.
  virtual bool Buffered() const = 0;
  /// Bytes written, from the front of `pieces`. After kWouldBlock the same pieces must be given again.
  virtual long TryWrite(std::span<const std::string_view> pieces) = 0;
  /// What TryWrite() is given may be taken back: asks before any byte leaves, and fails if the answer is false. nullptr: no more.
  virtual void Guard(std::function<bool()> intact) = 0;
  /// Calls `done` from the executor when it may be worth trying again, also after Close(). One of each at a time.
  virtual void WaitReadable(std::function<void()> done) = 0;
  virtual void WaitWritable(std::function<void()> done) = 0;
  /// kDone at once without TLS.
  virtual Handshake TryHandshake() = 0;
  /// What TLS knows of the other side, after the handshake.
  virtual void DescribePeer(Peer& peer) const = 0;
  /// "" or why TLS failed.
  virtual std::string Error() const = 0;
  /// Tells the other side that nothing more will be written.
  virtual void ShutdownWrite() = 0;
  virtual void Close() = 0;
  /// Takes the socket away from its executor, to give it to NewTransport later. Nothing may be waiting.
  struct Detached {
    int fd = -1;
    SslPtr ssl;
  };
  virtual Detached Detach() = 0;
};

/// The errno of a socket that has nothing to give or no room just now.
inline bool IsTemporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

/// What TryWrite() took: removes `size` bytes from the pieces from `first` on, and moves `first` to the first that is left.
void SkipBytes(std::vector<std::string_view>& pieces, std::size_t& first, std::size_t size);

/// Owns `fd` (non-blocking) from now on.
std::unique_ptr<Transport> NewTransport(boost::asio::any_io_executor executor, int fd, SslPtr ssl);

}  // namespace apimesh::http
