#include "lib/http/record_buffer.h"

#include <linux/tls.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "lib/base/hex.h"
#include "lib/http/record_batch.h"
#include "lib/http/traffic_secret.h"
#include "lib/http/transport.h"

namespace apimesh::http {
namespace {

constexpr long kWouldBlock = -1;
constexpr long kFailed = -2;
constexpr char kKeyUpdate = 24;  // the first byte of such a message
constexpr std::string_view kServerSecret = "SERVER_TRAFFIC_SECRET_0 ";

/// How OpenSSL speaks to a BIO that can make records, which to OpenSSL is one on top of a kernel that can. The numbers are reserved in <openssl/bio.h>.
constexpr int kSetRecordKey = 72, kMakesRecords = 73, kSetRecordType = 74, kForgetRecordType = 75;

/// Takes from the front of pieces what makes one record.
class RecordPieces {
 public:
  explicit RecordPieces(std::span<const std::string_view> pieces) : pieces_(pieces) {}

  /// Empty at the end. Valid until the next call.
  std::span<const std::string_view> Next() {
    thread_local std::vector<std::string_view> record;
    record.clear();
    for (std::size_t left = RecordBuffer::kRecordBytes; left > 0 && !pieces_.empty();) {
      const std::string_view part = pieces_.front().substr(offset_, left);
      record.push_back(part);
      left -= part.size();
      offset_ += part.size();
      taken_ += part.size();
      if (offset_ < pieces_.front().size()) continue;
      pieces_ = pieces_.subspan(1);
      offset_ = 0;
    }
    return record;
  }
  /// In all records so far.
  std::size_t Taken() const { return taken_; }

 private:
  std::span<const std::string_view> pieces_;
  std::size_t offset_ = 0;
  std::size_t taken_ = 0;
};

template <class Bytes>
std::string_view View(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes), sizeof(bytes)};
}

/// What OpenSSL hands over, in the kernel's own form. nullptr: nothing that we can do.
template <class Info>
std::unique_ptr<RecordCipher> CipherOf(const void* given) {
  const auto& info = *static_cast<const Info*>(given);
  std::uint64_t sequence = 0;
  for (const unsigned char byte : info.rec_seq) sequence = sequence << 8 | byte;
  return RecordCipher::New(View(info.key), std::string(View(info.salt)).append(View(info.iv)), sequence);
}

std::unique_ptr<RecordCipher> NewCipher(const void* given) {
  const auto& info = *static_cast<const tls_crypto_info*>(given);
  if (info.version != TLS_1_3_VERSION) return nullptr;
  switch (info.cipher_type) {
    case TLS_CIPHER_AES_GCM_128: return CipherOf<tls12_crypto_info_aes_gcm_128>(given);
    case TLS_CIPHER_AES_GCM_256: return CipherOf<tls12_crypto_info_aes_gcm_256>(given);
    default: return nullptr;
  }
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
  static int Read(BIO* bio, char* data, std::size_t size, std::size_t* read) {
    BIO_clear_retry_flags(bio);
    const ssize_t count = ::recv(Of(bio)->fd_, data, size, 0);
    if (count < 0 && IsTemporary(errno)) BIO_set_retry_read(bio);
    Of(bio)->end_of_input_ = count == 0;
    *read = count > 0 ? static_cast<std::size_t>(count) : 0;
    return count > 0 ? 1 : 0;
  }
  static long Control(BIO* bio, int command, long number, void* argument) {
    RecordBuffer& buffer = *Of(bio);
    switch (command) {
      case BIO_CTRL_FLUSH: return 1;
      case BIO_CTRL_EOF: return buffer.end_of_input_;
      case kSetRecordKey:
        if (number != 0) buffer.cipher_ = NewCipher(argument);  // 0: those that come in stay OpenSSL's
        return number != 0 && buffer.Seals();
      case kMakesRecords: return buffer.Seals();
      case kSetRecordType: buffer.next_type_ = static_cast<unsigned char>(number); return 0;
      case kForgetRecordType: buffer.next_type_ = RecordCipher::kApplicationData; return 0;
      default: return 0;
    }
  }
  static int Destroy(BIO* bio) {
    delete Of(bio);
    return 1;
  }

  static BIO_METHOD* Method() {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "TLS records");
      BIO_meth_set_write_ex(made, &Write);
      BIO_meth_set_read_ex(made, &Read);
      BIO_meth_set_ctrl(made, &Control);
      BIO_meth_set_destroy(made, &Destroy);
      return made;
    }();
    return method;
  }

  static bool Is(BIO* bio) { return bio != nullptr && BIO_method_type(bio) == Type(); }
  static RecordBuffer& Attach(SSL* ssl, int fd) {
    BIO* out = SSL_get_wbio(ssl);
    if (Is(out)) return *Of(out);
    auto* buffer = new RecordBuffer(fd);
    out = BIO_new(Method());
    BIO_set_data(out, buffer);
    BIO_set_init(out, 1);
    SSL_set_bio(ssl, out, out);
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

  /// OpenSSL tells its secrets to nobody else. Ours is needed again when a client asks for new keys.
  static void KeepSecret(const SSL* ssl, const char* line) {
    std::string_view text = line;
    BIO* const out = SSL_get_wbio(ssl);
    if (!text.starts_with(kServerSecret) || !Is(out)) return;
    Of(out)->secret_ = FromHex(text.substr(text.rfind(' ') + 1));
  }
};

void RecordBuffer::TakeRecordsOf(SSL_CTX* context) {
  if (!RecordCipher::Supported()) return;
  SSL_CTX_set_options(context, SSL_OP_ENABLE_KTLS);
  SSL_CTX_set_keylog_callback(context, &RecordBio::KeepSecret);
}

RecordBuffer& RecordBuffer::Attach(SSL* ssl, int fd) { return RecordBio::Attach(ssl, fd); }

RecordBuffer::~RecordBuffer() {
  Settle();
  OPENSSL_cleanse(secret_.data(), secret_.size());
}

void RecordBuffer::BeginBatch() {
  Settle();
  collecting_ = true;
}

bool RecordBuffer::BatchFull() const { return RecordBatch::OfThisThread().Full(); }

void RecordBuffer::Settle() {
  if (grouped_) RecordBatch::OfThisThread().Flush();
}

void RecordBuffer::Sent(std::string_view records, long result) {
  grouped_ = false;
  if (result == static_cast<long>(records.size())) return;
  if (result < 0 && !IsTemporary(static_cast<int>(-result))) {
    broken_ = true;
    ::shutdown(fd_, SHUT_RDWR);  // whoever waits for input sees the end of it
    return;
  }
  unsent_ = records.substr(static_cast<std::size_t>(std::max(result, 0L)));
  if (left_over_) left_over_();
}

std::size_t RecordBuffer::Seal(std::span<const std::string_view> pieces) {
  RecordBatch& batch = RecordBatch::OfThisThread();
  RecordPieces records(pieces);
  std::size_t taken = 0;
  while (!BatchFull()) {
    const std::span<const std::string_view> record = records.Next();
    const std::size_t size = records.Taken() - std::exchange(taken, records.Taken());
    if (size == 0) break;
    batch.Added(cipher_->Seal(RecordCipher::kApplicationData, record, batch.Room(size + RecordCipher::kOverhead)));
  }
  return taken;
}

long RecordBuffer::SendSome(std::string_view bytes) const {
  const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<long>(sent);
  return IsTemporary(errno) ? kWouldBlock : kFailed;
}

long RecordBuffer::Take(std::string_view bytes) {
  Settle();
  if (cipher_) return TakeSealed(bytes);
  if (!collecting_ && unsent_.empty()) return SendSome(bytes);
  if (collecting_) {
    RecordBatch& batch = RecordBatch::OfThisThread();
    std::memcpy(batch.Room(bytes.size()), bytes.data(), bytes.size());
    batch.Added(bytes.size());
  } else {
    unsent_.append(bytes);
  }
  return static_cast<long>(bytes.size());
}

/// What OpenSSL says by itself: session tickets, alerts, new keys.
long RecordBuffer::TakeSealed(std::string_view bytes) {
  const unsigned char type = std::exchange(next_type_, RecordCipher::kApplicationData);
  const bool new_key = type == RecordCipher::kHandshake && bytes.starts_with(kKeyUpdate);
  std::string record(bytes.size() + RecordCipher::kOverhead, '\0');
  cipher_->Seal(type, std::span(&bytes, 1), record.data());
  if (new_key && !NextKey()) return kFailed;
  unsent_.append(record);
  if (!collecting_ && Send() == Outcome::kFailed) return kFailed;
  return static_cast<long>(bytes.size());
}

bool RecordBuffer::NextKey() {
  if (secret_.empty()) return false;
  std::string next = NextTrafficSecret(secret_);
  secret_.swap(next);
  OPENSSL_cleanse(next.data(), next.size());
  cipher_ = RecordCipher::New(TrafficKey(secret_), TrafficIv(secret_), 0);
  return Seals();
}

RecordBuffer::Outcome RecordBuffer::Send() {
  collecting_ = false;
  RecordBatch& batch = RecordBatch::OfThisThread();
  if (broken_) {
    batch.Clear();
    return Outcome::kFailed;
  }
  if (unsent_.empty() && batch.Grouping() && !batch.View().empty()) {
    grouped_ = true;
    batch.Postpone(*this, fd_);
    return Outcome::kSent;
  }
  if (!unsent_.empty()) unsent_.append(batch.View());
  std::string_view left = unsent_.empty() ? batch.View() : std::string_view(unsent_);
  Outcome outcome = Outcome::kSent;
  while (!left.empty()) {
    const long sent = SendSome(left);
    if (sent < 0) {
      outcome = sent == kWouldBlock ? Outcome::kFull : Outcome::kFailed;
      break;
    }
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  if (!left.empty() || !unsent_.empty()) unsent_ = std::string(left);
  batch.Clear();
  return outcome;
}

void RecordBuffer::Drop() {
  collecting_ = false;
  RecordBatch::OfThisThread().Clear();
}

}  // namespace apimesh::http
