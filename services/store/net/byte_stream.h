#pragma once

#include <memory>
#include <string>
#include <string_view>

typedef struct ssl_ctx_st SSL_CTX;

namespace apimesh::store {

/// A non-blocking connection, plain or TLS. Owns the file descriptor.
class ByteStream {
 public:
  enum class Outcome { kDone, kWouldBlock, kClosed };

  virtual ~ByteStream() = default;
  virtual int Fd() const = 0;
  /// Appends what is there (up to a bound) to `buffer`.
  virtual Outcome Read(std::string& buffer) = 0;
  /// Writes a prefix of `bytes` and says how much.
  virtual Outcome Write(std::string_view bytes, std::size_t& written) = 0;
};

std::unique_ptr<ByteStream> PlainStream(int fd);
/// `context` is kept alive by the stream.
std::unique_ptr<ByteStream> TlsStream(int fd, SSL_CTX* context, bool server);

}  // namespace apimesh::store
