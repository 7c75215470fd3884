#pragma once

#include <memory>
#include <span>
#include <string_view>

typedef struct ssl_ctx_st SSL_CTX;

namespace apimesh::store {

/// A non-blocking connection, plain or TLS. Owns the file descriptor.
class ByteStream {
 public:
  enum class Outcome { kDone, kWouldBlock, kClosed };
  /// The maximum number of bytes that Read() returns.
  static constexpr std::size_t kReadBytes = 64 * 1024;

  virtual ~ByteStream() = default;
  virtual int Fd() const = 0;
  /// Reads the available bytes. `bytes` is valid until the next Read() of any stream on this thread.
  virtual Outcome Read(std::string_view& bytes) = 0;
  /// Writes as many bytes as possible from the front of `pieces` and sets `written`. After kWouldBlock the caller must
  /// write the same pieces again.
  virtual Outcome Write(std::span<const std::string_view> pieces, std::size_t& written) = 0;
};

std::unique_ptr<ByteStream> PlainStream(int fd);
/// The stream keeps `context` alive.
std::unique_ptr<ByteStream> TlsStream(int fd, SSL_CTX* context, bool server);

}  // namespace apimesh::store
