#pragma once

#include <cerrno>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/bytes.h"
#include "lib/net/peer.h"
#include "lib/net/tls/tls.h"

namespace apimesh::net {

/// A connected non-blocking socket, with or without TLS: the caller tries an operation and waits if it would block.
/// OpenSSL reads from and writes to the descriptor directly, without another buffer. It must be used on one executor.
class Transport {
 public:
  static constexpr long kWouldBlock = -1;
  static constexpr long kFailed = -2;
  enum class Handshake { kDone, kWantRead, kWantWrite, kFailed };

  virtual ~Transport() = default;
  /// The number of bytes read; 0 at the end of the stream; kWouldBlock; kFailed.
  virtual long TryRead(char* buffer, std::size_t size) = 0;
  /// Whether TryRead() returns data even if the socket is not readable.
  virtual bool Buffered() const = 0;
  /// The number of bytes written, from the front of `pieces`. After kWouldBlock the caller must pass the same pieces
  /// again.
  long TryWrite(std::span<const std::string_view> pieces) { return TryWrite(pieces, {}); }
  /// The same for pieces that may refer to `sources`. If a source is in revocable memory, the pieces are copied or
  /// encrypted, and TryWrite() fails without sending any of them if the memory has been revoked by then.
  virtual long TryWrite(std::span<const std::string_view> pieces, std::span<const SharedBytes> sources) = 0;
  /// Calls `done` on the executor when another attempt may succeed, also after Close(). Only one wait of each kind may
  /// be pending at a time.
  virtual void WaitReadable(std::function<void()> done) = 0;
  virtual void WaitWritable(std::function<void()> done) = 0;
  /// Returns kDone immediately without TLS.
  virtual Handshake TryHandshake() = 0;
  /// Fills in the TLS properties of the peer. Must be called after the handshake.
  virtual void DescribePeer(Peer& peer) const = 0;
  /// The reason why TLS failed; "" if it did not.
  virtual std::string Error() const = 0;
  /// Signals to the peer that nothing more will be written.
  virtual void ShutdownWrite() = 0;
  virtual void Close() = 0;
  /// Detaches the socket from its executor, so that it can be passed to NewTransport() later. No wait may be pending.
  struct Detached {
    int fd = -1;
    SslPtr ssl;
  };
  virtual Detached Detach() = 0;
};

/// Whether `error` is the errno of a socket that has no data or no room at the moment.
inline bool IsTemporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

/// Removes the `size` bytes that TryWrite() has written from `pieces`, beginning at index `first`, and advances `first`
/// to the first piece that is left.
void SkipBytes(std::vector<std::string_view>& pieces, std::size_t& first, std::size_t size);

/// Takes ownership of `fd`, which must be non-blocking. `clock` measures the rates that are limited.
std::unique_ptr<Transport> NewTransport(boost::asio::any_io_executor executor, int fd, SslPtr ssl, const Clock& clock);

}  // namespace apimesh::net
