#include "lib/http/record_buffer.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>

namespace apimesh::http {
namespace {

constexpr long kWouldBlock = -1;
constexpr long kFailed = -2;

/// One for all connections of a thread: it is empty whenever they take turns.
std::string& Batch() {
  thread_local std::string batch;
  return batch;
}

}  // namespace

/// RecordBuffer as OpenSSL sees it.
struct RecordBio {
  static RecordBuffer* Of(BIO* bio) { return static_cast<RecordBuffer*>(BIO_get_data(bio)); }

  static int Write(BIO* bio, const char* data, std::size_t size, std::size_t* written) {
    BIO_clear_retry_flags(bio);
    const long taken = Of(bio)->Take({data, size});
    if (taken == kWouldBlock) BIO_set_retry_write(bio);
    *written = taken > 0 ? static_cast<std::size_t>(taken) : 0;
    return taken > 0 ? 1 : 0;
  }
  static long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }
  static int Destroy(BIO* bio) {
    delete Of(bio);
    return 1;
  }

  static BIO_METHOD* Method() {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "TLS records");
      BIO_meth_set_write_ex(made, &Write);
      BIO_meth_set_ctrl(made, &Control);
      BIO_meth_set_destroy(made, &Destroy);
      return made;
    }();
    return method;
  }

  static RecordBuffer& Attach(SSL* ssl, int fd) {
    BIO* out = SSL_get_wbio(ssl);
    if (out != nullptr && BIO_method_type(out) == Type()) return *Of(out);
    auto* buffer = new RecordBuffer(fd);
    out = BIO_new(Method());
    BIO_set_data(out, buffer);
    BIO_set_init(out, 1);
    SSL_set_bio(ssl, BIO_new_socket(fd, BIO_NOCLOSE), out);
    return *buffer;
  }
  static int Type() {
    static const int type = [] {
      BIO* bio = BIO_new(Method());
      const int found = BIO_method_type(bio);
      BIO_free(bio);
      return found;
    }();
    return type;
  }
};

RecordBuffer& RecordBuffer::Attach(SSL* ssl, int fd) { return RecordBio::Attach(ssl, fd); }

bool RecordBuffer::BatchFull() const { return Batch().size() >= kBatchBytes; }

long RecordBuffer::SendSome(std::string_view bytes) const {
  const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<long>(sent);
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? kWouldBlock : kFailed;
}

long RecordBuffer::Take(std::string_view bytes) {
  if (!collecting_ && unsent_.empty()) return SendSome(bytes);
  (collecting_ ? Batch() : unsent_).append(bytes);
  return static_cast<long>(bytes.size());
}

RecordBuffer::Outcome RecordBuffer::Send() {
  collecting_ = false;
  std::string& batch = Batch();
  const bool fresh = unsent_.empty();
  std::string_view left = fresh ? std::string_view(batch) : std::string_view(unsent_);
  Outcome outcome = Outcome::kSent;
  while (!left.empty()) {
    const long sent = SendSome(left);
    if (sent < 0) {
      outcome = sent == kWouldBlock ? Outcome::kFull : Outcome::kFailed;
      break;
    }
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  std::string kept(left);
  unsent_.swap(kept);
  batch.clear();
  return outcome;
}

void RecordBuffer::Drop() {
  collecting_ = false;
  Batch().clear();
}

}  // namespace apimesh::http
