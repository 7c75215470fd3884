#include "services/store/net/byte_stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace apimesh::store {
namespace {

constexpr std::size_t kReadChunk = 64 * 1024;
// Reads land here first: growing the target by a whole chunk would zero it each time.
thread_local char scratch[kReadChunk];

class Plain final : public ByteStream {
 public:
  explicit Plain(int fd) : fd_(fd) {}
  ~Plain() override { close(fd_); }
  int Fd() const override { return fd_; }

  Outcome Read(std::string& buffer) override {
    const ssize_t got = recv(fd_, scratch, kReadChunk, 0);
    if (got > 0) {
      buffer.append(scratch, static_cast<std::size_t>(got));
      return Outcome::kDone;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Outcome::kWouldBlock;
    return Outcome::kClosed;
  }

  Outcome Write(std::string_view bytes, std::size_t& written) override {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    written = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    if (sent >= 0) return Outcome::kDone;
    return errno == EAGAIN || errno == EINTR ? Outcome::kWouldBlock : Outcome::kClosed;
  }

 private:
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

  Outcome Read(std::string& buffer) override {
    std::size_t total = 0;
    int result = 1;
    // All that is decrypted must be taken: epoll knows nothing of bytes that OpenSSL holds.
    while (total < kReadChunk) {
      ERR_clear_error();
      result = SSL_read(ssl_, scratch + total, static_cast<int>(kReadChunk - total));
      if (result <= 0) break;
      total += static_cast<std::size_t>(result);
    }
    buffer.append(scratch, total);
    if (total > 0) return Outcome::kDone;
    return Wants(result) ? Outcome::kWouldBlock : Outcome::kClosed;
  }

  Outcome Write(std::string_view bytes, std::size_t& written) override {
    ERR_clear_error();
    const int result = SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
    written = result > 0 ? static_cast<std::size_t>(result) : 0;
    if (result > 0) return Outcome::kDone;
    return Wants(result) ? Outcome::kWouldBlock : Outcome::kClosed;
  }

 private:
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
