#include "lib/net/transport.h"

#include <cstring>

#include <boost/asio/generic/stream_protocol.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "lib/net/tls/record_buffer.h"
#include "lib/net/tls/verify_error.h"

namespace apimesh::net {
namespace {

namespace asio = boost::asio;
constexpr std::size_t kMaxPieces = 256;       // per system call
constexpr std::size_t kCopyBytes = 64 << 10;  // of shared memory, per system call without TLS

/// Errors that other code left in OpenSSL's queue would be attributed to the next call. The queue is almost always
/// empty, and checking it is cheaper than clearing it.
void ForgetErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

/// Splits pieces into the plaintexts of TLS records. Small pieces are joined; a piece that fills a record is encrypted
/// in place.
class RecordReader {
 public:
  explicit RecordReader(std::span<const std::string_view> pieces) : pieces_(pieces) {}

  /// Empty at the end. Valid until the next call.
  std::string_view Next() {
    thread_local char joined[RecordBuffer::kRecordBytes];
    std::size_t size = 0;
    while (index_ < pieces_.size() && size < sizeof(joined)) {
      const std::string_view rest = pieces_[index_].substr(offset_);
      const bool last = index_ + 1 == pieces_.size();
      if (size == 0 && (rest.size() >= sizeof(joined) || last)) return Advance(rest.substr(0, sizeof(joined)));
      const std::string_view part = Advance(rest.substr(0, sizeof(joined) - size));
      std::memcpy(joined + size, part.data(), part.size());
      size += part.size();
    }
    return {joined, size};
  }

 private:
  std::string_view Advance(std::string_view part) {
    offset_ += part.size();
    if (offset_ == pieces_[index_].size()) {
      ++index_;
      offset_ = 0;
    }
    return part;
  }

  std::span<const std::string_view> pieces_;
  std::size_t index_ = 0;
  std::size_t offset_ = 0;
};

class SocketTransport final : public Transport {
 public:
  SocketTransport(const asio::any_io_executor& executor, int fd, SslPtr ssl, const Clock& clock)
      : socket_(executor), clock_(clock), ssl_(std::move(ssl)) {
    sockaddr_storage name{};
    socklen_t size = sizeof(name);
    getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
    const bool ip = name.ss_family == AF_INET || name.ss_family == AF_INET6;
    if (ip) {
      const int on = 1, idle = 30, interval = 10, count = 3;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
      setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
      setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
      setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
    }
    socket_.assign(asio::generic::stream_protocol(name.ss_family, ip ? IPPROTO_TCP : 0), fd);
    if (!ssl_) return;
    output_ = &RecordBuffer::Attach(ssl_.get(), fd, clock);
    output_->BeginTurn();
    output_->OnLeftOver([this] { SendLater(); });
  }
  ~SocketTransport() override { Close(); }

  long TryRead(char* buffer, std::size_t size) override {
    if (!socket_.is_open()) return kFailed;
    if (ssl_) {
      ForgetErrors();
      const int n = SSL_read(ssl_.get(), buffer, static_cast<int>(size));
      read_needs_room_ = n <= 0 && SSL_get_error(ssl_.get(), n) == SSL_ERROR_WANT_WRITE;
      return n > 0 ? n : SslOutcome(n);
    }
    const ssize_t n = ::recv(socket_.native_handle(), buffer, size, 0);
    if (n >= 0) return n;
    return IsTemporary(errno) ? kWouldBlock : kFailed;
  }

  bool Buffered() const override { return ssl_ && SSL_has_pending(ssl_.get()) == 1; }

  long TryWrite(std::span<const std::string_view> pieces, std::span<const SharedBytes> sources) override {
    if (!socket_.is_open()) return kFailed;
    if (ssl_) return TryWriteTls(pieces, sources);
    return AnyRevocable(sources) ? TryWriteCopy(pieces, sources) : TryWritePlain(pieces);
  }

  /// A read that must first answer the peer (KeyUpdate) waits for room to write, because the socket may stay readable.
  void WaitReadable(std::function<void()> done) override {
    Wait(read_needs_room_ ? asio::socket_base::wait_write : asio::socket_base::wait_read, std::move(done));
  }
  void WaitWritable(std::function<void()> done) override { Wait(asio::socket_base::wait_write, std::move(done)); }

  Handshake TryHandshake() override {
    if (!ssl_) return Handshake::kDone;
    if (!socket_.is_open()) return Handshake::kFailed;  // another socket may have its descriptor number now
    ForgetErrors();
    const int result = SSL_do_handshake(ssl_.get());
    if (result == 1) {
      output_->HandshakeDone();
      return Handshake::kDone;
    }
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ: return Handshake::kWantRead;
      case SSL_ERROR_WANT_WRITE: return Handshake::kWantWrite;
      default: break;
    }
    if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_HTTP_REQUEST) {
      constexpr std::string_view kHint =
          "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
      (void)::send(socket_.native_handle(), kHint.data(), kHint.size(), MSG_NOSIGNAL);
    }
    KeepError();
    if (std::string refused = DescribeVerifyError(ssl_.get(), clock_.Now()); !refused.empty())
      error_ = std::move(refused);
    return Handshake::kFailed;
  }

  void DescribePeer(Peer& peer) const override {
    if (!ssl_) return;
    peer.tls = true;
    if (const char* sni = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name)) peer.sni = sni;
    peer.certificates_der = PeerCertificates(ssl_.get());
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
    peer.protocol.assign(reinterpret_cast<const char*>(protocol), size);
  }

  std::string Error() const override { return error_; }

  void ShutdownWrite() override {
    if (!socket_.is_open()) return;
    if (output_) output_->FlushGroup();
    ERR_clear_error();
    if (ssl_ && SSL_is_init_finished(ssl_.get()) && error_.empty()) SSL_shutdown(ssl_.get());
    ::shutdown(socket_.native_handle(), SHUT_WR);
  }

  void Close() override {
    if (!socket_.is_open()) return;
    if (output_) output_->FlushGroup();
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

  Detached Detach() override {
    if (output_) {
      output_->FlushGroup();
      output_->OnLeftOver(nullptr);
      output_ = nullptr;
    }
    return {socket_.release(), std::move(ssl_)};
  }

 private:
  void Wait(asio::socket_base::wait_type type, std::function<void()> done) {
    if (!ssl_) {
      socket_.async_wait(type, [done = std::move(done)](const boost::system::error_code&) { done(); });
      return;
    }
    // The transport may be destroyed when the wait ends; `done` must handle that.
    auto complete = [this, alive = std::weak_ptr(alive_), done = std::move(done)](const boost::system::error_code&) {
      if (!alive.expired() && output_ != nullptr) output_->BeginTurn();
      done();
    };
    socket_.async_wait(type, std::move(complete));
  }

  /// Sends the records left by a full socket, unless a writer waits for room anyway.
  void SendLater() {
    if (std::exchange(sending_later_, true)) return;
    socket_.async_wait(asio::socket_base::wait_write,
                       [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                         if (alive.expired()) return;
                         sending_later_ = false;
                         if (error || accepted_ > 0 || output_ == nullptr || !output_->HasLeftOver()) return;
                         if (output_->Send() == RecordBuffer::Outcome::kFull) SendLater();
                       });
  }

  /// Copies the bytes before it sends them, because the kernel would copy and send in one step.
  long TryWriteCopy(std::span<const std::string_view> pieces, std::span<const SharedBytes> sources) {
    thread_local std::string copy;
    copy.clear();
    for (const std::string_view piece : pieces) {
      if (copy.size() >= kCopyBytes) break;
      copy.append(piece.substr(0, kCopyBytes - copy.size()));
    }
    if (!StillValid(sources)) return kFailed;
    const ssize_t n = ::send(socket_.native_handle(), copy.data(), copy.size(), MSG_NOSIGNAL);
    if (n >= 0) return n;
    return IsTemporary(errno) ? kWouldBlock : kFailed;
  }

  long TryWritePlain(std::span<const std::string_view> pieces) {
    iovec vectors[kMaxPieces];
    const std::size_t count = std::min(pieces.size(), kMaxPieces);
    for (std::size_t i = 0; i < count; ++i) {
      vectors[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
    }
    msghdr message{};
    message.msg_iov = vectors;
    message.msg_iovlen = count;
    const ssize_t n = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL);
    if (n >= 0) return n;
    return IsTemporary(errno) ? kWouldBlock : kFailed;
  }

  /// Encrypts as much as one system call should send, and sends it. The encrypted bytes count as written when all of
  /// them are sent; until then the caller passes the same pieces again.
  long TryWriteTls(std::span<const std::string_view> pieces, std::span<const SharedBytes> sources) {
    if (accepted_ == 0) {
      output_->BeginBatch();
      if (output_->Seals()) {
        const long sealed = output_->Seal(pieces);
        if (sealed < 0) {
          output_->Drop();
          return kFailed;
        }
        accepted_ = sealed;
      } else if (const int n = Encrypt(pieces); accepted_ == 0 && n <= 0) {
        output_->Send();
        return SslOutcome(n);
      }
      if (!StillValid(sources)) {
        output_->Drop();
        error_ = "the memory of the bytes to send has been revoked";
        return kFailed;
      }
    }
    switch (output_->Send()) {
      case RecordBuffer::Outcome::kSent: return std::exchange(accepted_, 0);
      case RecordBuffer::Outcome::kFull: return kWouldBlock;
      default: return kFailed;
    }
  }

  /// Encrypts with OpenSSL into the batch; returns the result of the last SSL_write().
  int Encrypt(std::span<const std::string_view> pieces) {
    ForgetErrors();
    RecordReader records(pieces);
    int n = 1;
    while (n > 0 && !output_->BatchFull()) {
      if (output_->KeyUsedUp() && SSL_is_init_finished(ssl_.get()) && !RenewKey()) return -1;
      const std::string_view record = records.Next();
      if (record.empty()) break;
      n = SSL_write(ssl_.get(), record.data(), static_cast<int>(record.size()));
      if (n > 0) accepted_ += static_cast<long>(record.size());
    }
    return n;
  }

  /// Makes OpenSSL write a KeyUpdate before the next record. TLS 1.2 has no KeyUpdate; there the connection ends.
  bool RenewKey() {
    if (SSL_version(ssl_.get()) != TLS1_3_VERSION || SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) {
      error_ = "too many records under one key";
      return false;
    }
    output_->KeyRenewed();
    return true;
  }

  long SslOutcome(int result) {
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE: return kWouldBlock;
      case SSL_ERROR_ZERO_RETURN: return 0;
      default: KeepError(); return kFailed;
    }
  }

  void KeepError() {
    char text[160] = "connection closed";
    if (const unsigned long code = ERR_peek_last_error()) ERR_error_string_n(code, text, sizeof(text));
    error_ = text;
    ERR_clear_error();
  }

  asio::generic::stream_protocol::socket socket_;
  const Clock& clock_;
  SslPtr ssl_;
  RecordBuffer* output_ = nullptr;  // owned by ssl_
  long accepted_ = 0;               // encrypted, but not completely sent
  std::string error_;
  bool read_needs_room_ = false;
  bool sending_later_ = false;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>();  // for waits that outlive this
};

}  // namespace

void SkipBytes(std::vector<std::string_view>& pieces, std::size_t& first, std::size_t size) {
  while (size > 0) {
    const std::size_t part = std::min(size, pieces[first].size());
    pieces[first].remove_prefix(part);
    size -= part;
    if (pieces[first].empty()) ++first;
  }
}

std::unique_ptr<Transport> NewTransport(asio::any_io_executor executor, int fd, SslPtr ssl, const Clock& clock) {
  return std::make_unique<SocketTransport>(std::move(executor), fd, std::move(ssl), clock);
}

}  // namespace apimesh::net
