#include "lib/net/tls/record_bio.h"

#include <string_view>

#include <linux/tls.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include "lib/base/hash/hex.h"
#include "lib/net/tls/record_buffer.h"

namespace apimesh::net {
namespace {

constexpr std::string_view kServerSecret = "SERVER_TRAFFIC_SECRET_0 ";

/// The BIO controls with which OpenSSL communicates with a kernel that encrypts records; this BIO implements them. The
/// numbers are reserved in <openssl/bio.h>.
constexpr int kSetRecordKey = 72, kMakesRecords = 73, kSetRecordType = 74, kForgetRecordType = 75;

template <class Bytes>
std::string_view View(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes), sizeof(bytes)};
}

/// Makes a cipher from OpenSSL's description of a key, which has the kernel's format. nullptr if RecordCipher does not
/// support it.
template <class Info>
std::unique_ptr<RecordCipher> CipherOf(const void* given) {
  const auto& info = *static_cast<const Info*>(given);
  std::uint64_t sequence = 0;
  for (const unsigned char byte : info.rec_seq) sequence = sequence << 8 | byte;
  char iv[sizeof(info.salt) + sizeof(info.iv)];
  View(info.salt).copy(iv, sizeof(info.salt));
  View(info.iv).copy(iv + sizeof(info.salt), sizeof(info.iv));
  auto cipher = RecordCipher::New(View(info.key), View(iv), sequence);
  OPENSSL_cleanse(iv, sizeof(iv));
  return cipher;
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

int RecordsPerKeyIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

}  // namespace

RecordBuffer* RecordBio::Of(BIO* bio) { return static_cast<RecordBuffer*>(BIO_get_data(bio)); }

int RecordBio::Write(BIO* bio, const char* data, std::size_t size, std::size_t* written) {
  BIO_clear_retry_flags(bio);
  const long taken = Of(bio)->Take({data, size});
  if (taken == RecordBuffer::kWouldBlock) BIO_set_retry_write(bio);
  *written = taken > 0 ? static_cast<std::size_t>(taken) : 0;
  return taken > 0 ? 1 : 0;
}

int RecordBio::Read(BIO* bio, char* data, std::size_t size, std::size_t* read) {
  BIO_clear_retry_flags(bio);
  const long count = Of(bio)->ReadSome(data, size);
  if (count == RecordBuffer::kWouldBlock) BIO_set_retry_read(bio);
  *read = count > 0 ? static_cast<std::size_t>(count) : 0;
  return count > 0 ? 1 : 0;
}

long RecordBio::Control(BIO* bio, int command, long number, void* argument) {
  RecordBuffer& buffer = *Of(bio);
  switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_EOF: return buffer.end_of_input_;
    case kSetRecordKey:
      if (number != 0) buffer.cipher_ = NewCipher(argument);  // 0: the incoming direction, which OpenSSL decrypts
      return number != 0 && buffer.Seals();
    case kMakesRecords: return buffer.Seals();
    case kSetRecordType: buffer.next_type_ = static_cast<unsigned char>(number); return 0;
    case kForgetRecordType: buffer.next_type_ = RecordCipher::kApplicationData; return 0;
    default: return 0;
  }
}

int RecordBio::Destroy(BIO* bio) {
  delete Of(bio);
  return 1;
}

BIO_METHOD* RecordBio::Method() {
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

int RecordBio::Type() {
  static const int type = [] {
    BIO* bio = BIO_new(Method());
    const int found = BIO_method_type(bio);
    BIO_free(bio);
    return found;
  }();
  return type;
}

bool RecordBio::Is(BIO* bio) { return bio != nullptr && BIO_method_type(bio) == Type(); }

RecordBuffer& RecordBio::Attach(SSL* ssl, int fd, const Clock& clock) {
  BIO* out = SSL_get_wbio(ssl);
  if (Is(out)) return *Of(out);
  auto* buffer = new RecordBuffer(fd, clock);
  if (void* const records = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), RecordsPerKeyIndex())) {
    buffer->records_per_key_ = reinterpret_cast<std::uintptr_t>(records);
  }
  out = BIO_new(Method());
  BIO_set_data(out, buffer);
  BIO_set_init(out, 1);
  SSL_set_bio(ssl, out, out);
  return *buffer;
}

void RecordBio::SetRecordsPerKey(SSL_CTX* context, std::uint64_t records) {
  SSL_CTX_set_ex_data(context, RecordsPerKeyIndex(), reinterpret_cast<void*>(static_cast<std::uintptr_t>(records)));
}

void RecordBio::ObserveRecordsOf(SSL_CTX* context) { SSL_CTX_set_msg_callback(context, &OnRecord); }

/// In TLS 1.3 the header of each encrypted record says application data; the real type is inside, and OpenSSL reports
/// it next.
void RecordBio::OnRecord(int written, int, int what, const void* bytes, std::size_t size, SSL* ssl, void*) {
  if ((what != SSL3_RT_HEADER && what != SSL3_RT_INNER_CONTENT_TYPE) || size == 0) return;
  BIO* const bio = SSL_get_rbio(ssl);
  if (!Is(bio)) return;
  if (written != 0) {
    if (what == SSL3_RT_HEADER) Of(bio)->CountWrittenRecord();
  } else if (*static_cast<const unsigned char*>(bytes) != RecordCipher::kApplicationData) {
    Of(bio)->CountControlRecord();
  }
}

void RecordBio::TakeRecordsOf(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_ENABLE_KTLS);
  SSL_CTX_set_keylog_callback(context, &KeepSecret);
}

/// OpenSSL passes its secrets to no other callback. The server's secret is needed to compute the next key.
void RecordBio::KeepSecret(const SSL* ssl, const char* line) {
  const std::string_view text = line;
  BIO* const out = SSL_get_wbio(ssl);
  if (!text.starts_with(kServerSecret) || !Is(out)) return;
  Of(out)->secret_ = FromHex(text.substr(text.rfind(' ') + 1));
}

}  // namespace apimesh::net
