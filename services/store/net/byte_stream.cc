#include "services/store/net/byte_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace apimesh::store {
namespace {

constexpr std::size_t kPiecesPerWrite = 64;
constexpr std::size_t kRecordBytes = 16 * 1024;  // the maximum size of a TLS record
thread_local char scratch[ByteStream::kReadBytes];

class Plain final : public ByteStream {
 public:
  explicit Plain(int fd) : fd_(fd) {}
  ~Plain() override { close(fd_); }
  int Fd() const override { return fd_; }

  Outcome Read(std::string_view& bytes) override {
    const ssize_t got = recv(fd_, scratch, sizeof scratch, 0);
    bytes = {scratch, got > 0 ? static_cast<std::size_t>(got) : 0};
    if (got > 0) return Outcome::kDone;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? Outcome::kWouldBlock : Outcome::kClosed;
  }

  Outcome Write(std::span<const std::string_view> pieces, std::size_t& written) override {
    const ssize_t sent =
        pieces.size() == 1 ? send(fd_, pieces[0].data(), pieces[0].size(), MSG_NOSIGNAL) : SendPieces(pieces);
    written = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    if (sent >= 0) return Outcome::kDone;
    return errno == EAGAIN || errno == EINTR ? Outcome::kWouldBlock : Outcome::kClosed;
  }

 private:
  ssize_t SendPieces(std::span<const std::string_view> pieces) const {
    iovec vector[kPiecesPerWrite];
    const std::size_t count = std::min(pieces.size(), kPiecesPerWrite);
    for (std::size_t i = 0; i < count; ++i) vector[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
    const msghdr message{.msg_iov = vector, .msg_iovlen = count};
    return sendmsg(fd_, &message, MSG_NOSIGNAL);
  }

  int fd_;
};

class Tls final : public ByteStream {
 public:
  Tls(int fd, SSL_CTX* context, bool server) : fd_(fd), ssl_(SSL_new(context)) {
    SSL_set_fd(ssl_, fd);
    SSL_set_mode(ssl_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    if (server) {
      SSL_set_accept_state(ssl_);
    } else {
      SSL_set_connect_state(ssl_);
    }
  }
  ~Tls() override {
    if (SSL_is_init_finished(ssl_)) SSL_shutdown(ssl_);
    SSL_free(ssl_);
    ERR_clear_error();
    close(fd_);
  }
  int Fd() const override { return fd_; }

  Outcome Read(std::string_view& bytes) override {
    std::size_t total = 0;
    int result = 1;
    // All decrypted bytes must be read, because epoll does not report bytes that OpenSSL has buffered.
    while (total < sizeof scratch) {
      ERR_clear_error();
      result = SSL_read(ssl_, scratch + total, static_cast<int>(sizeof scratch - total));
      if (result <= 0) break;
      total += static_cast<std::size_t>(result);
    }
    bytes = {scratch, total};
    if (total > 0) return Outcome::kDone;
    return Wants(result) ? Outcome::kWouldBlock : Outcome::kClosed;
  }

  Outcome Write(std::span<const std::string_view> pieces, std::size_t& written) override {
    ERR_clear_error();
    char joined[kRecordBytes];
    const std::string_view bytes =
        pieces[0].size() >= kRecordBytes || pieces.size() == 1 ? pieces[0] : Join(pieces, joined);
    const int result = SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
    written = result > 0 ? static_cast<std::size_t>(result) : 0;
    if (result > 0) return Outcome::kDone;
    return Wants(result) ? Outcome::kWouldBlock : Outcome::kClosed;
  }

 private:
  /// Copies small pieces into one buffer, so that they share a TLS record.
  static std::string_view Join(std::span<const std::string_view> pieces, char (&joined)[kRecordBytes]) {
    std::size_t size = 0;
    for (const std::string_view piece : pieces) {
      const std::size_t part = std::min(piece.size(), kRecordBytes - size);
      std::memcpy(joined + size, piece.data(), part);
      size += part;
      if (size == kRecordBytes) break;
    }
    return {joined, size};
  }

  bool Wants(int result) const {
    const int error = SSL_get_error(ssl_, result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  }

  int fd_;
  SSL* ssl_;
};

}  // namespace

std::unique_ptr<ByteStream> PlainStream(int fd) { return std::make_unique<Plain>(fd); }
std::unique_ptr<ByteStream> TlsStream(int fd, SSL_CTX* context, bool server) {
  return std::make_unique<Tls>(fd, context, server);
}

}  // namespace apimesh::store
