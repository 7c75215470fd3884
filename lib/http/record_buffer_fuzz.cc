// Links: lib/http/transport.cc lib/http/record_buffer.cc lib/http/record_bio.cc lib/http/record_batch.cc lib/http/record_cipher.cc
// Links: lib/http/send_all.cc lib/http/traffic_secret.cc lib/http/tls_common.cc
// Links: meta PkgConfig::URING OpenSSL::SSL IPSec_MB
// Drives the TLS record layer as OpenSSL and the transport do: application data in batches and groups, control messages, KeyUpdates of both
// sides, a socket that is full most of the time. Whatever the order, the peer must be able to decrypt all records, in the order in which
// they were written, and what waits for the socket must stay within its bounds. Bytes that come in are read as the BIO reads them.
#include <linux/tls.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "lib/http/record_batch.h"
#include "lib/http/record_buffer.h"
#include "lib/http/send_group.h"
#include "lib/http/tls_common.h"
#include "lib/http/traffic_secret.h"

using namespace apimesh::http;

namespace {

constexpr int kSetRecordKey = 72, kSetRecordType = 74;
const std::string kSecret(32, 's');

void Check(bool good) {
  if (!good) std::abort();
}

/// The peer: decrypts records by OpenSSL and follows KeyUpdates.
class Opener {
 public:
  Opener() : context_(EVP_CIPHER_CTX_new()) { Use(kSecret); }
  ~Opener() { EVP_CIPHER_CTX_free(context_); }

  void Feed(std::string_view bytes) {
    in_.append(bytes);
    while (in_.size() >= 5) {
      const std::size_t size = static_cast<unsigned char>(in_[3]) << 8 | static_cast<unsigned char>(in_[4]);
      if (in_.size() < 5 + size) return;
      Open(in_.substr(0, 5 + size));
      in_.erase(0, 5 + size);
    }
  }
  bool Partial() const { return !in_.empty(); }
  std::string plain;    // application data
  std::string control;  // everything else, with its type before it

 private:
  void Use(std::string secret) {
    secret_ = std::move(secret);
    key_ = TrafficKey(secret_);
    iv_ = TrafficIv(secret_);
    sequence_ = 0;
  }
  void Open(const std::string& record) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(record.data());
    std::string nonce = iv_, text(record.size() - 5 - 16, '\0');
    for (int i = 0; i < 8; ++i) nonce[11 - i] = static_cast<char>(nonce[11 - i] ^ static_cast<char>(sequence_ >> (8 * i)));
    ++sequence_;
    auto* out = reinterpret_cast<unsigned char*>(text.data());
    int length = 0;
    EVP_DecryptInit_ex(context_, EVP_aes_128_gcm(), nullptr, reinterpret_cast<const unsigned char*>(key_.data()),
                       reinterpret_cast<const unsigned char*>(nonce.data()));
    EVP_DecryptUpdate(context_, nullptr, &length, bytes, 5);
    EVP_DecryptUpdate(context_, out, &length, bytes + 5, static_cast<int>(text.size()));
    EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_GCM_SET_TAG, 16, const_cast<unsigned char*>(bytes) + 5 + text.size());
    Check(EVP_DecryptFinal_ex(context_, out + length, &length) == 1);
    const char type = text.back();
    text.pop_back();
    if (type == RecordCipher::kApplicationData) {
      plain += text;
    } else {
      if (text.starts_with('\x18') && type == RecordCipher::kHandshake) Use(NextTrafficSecret(secret_));
      control += type + text;
    }
  }

  EVP_CIPHER_CTX* const context_;
  std::string in_, secret_, key_, iv_;
  std::uint64_t sequence_ = 0;
};

class Machine {
 public:
  Machine() {
    Check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_) == 0);
    const int small = 4096;
    setsockopt(ends_[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    static const SslContextPtr context = [] {
      SslContextPtr made = NewSslContext(true);
      RecordBuffer::Prepare(made.get(), true, 20);
      return made;
    }();
    ssl_ = SSL_new(context.get());
    buffer_ = &RecordBuffer::Attach(ssl_, ends_[0]);
    bio_ = SSL_get_wbio(ssl_);
    tls12_crypto_info_aes_gcm_128 key{};
    key.info = {TLS_1_3_VERSION, TLS_CIPHER_AES_GCM_128};
    const std::string bytes = TrafficKey(kSecret), iv = TrafficIv(kSecret);
    std::memcpy(key.key, bytes.data(), sizeof(key.key));
    std::memcpy(key.salt, iv.data(), sizeof(key.salt));
    std::memcpy(key.iv, iv.data() + sizeof(key.salt), sizeof(key.iv));
    BIO_ctrl(bio_, kSetRecordKey, 1, &key);
    if (!buffer_->Seals()) std::_Exit(0);  // this processor can't
    std::string line = "SERVER_TRAFFIC_SECRET_0 00 ";
    for (std::size_t i = 0; i < kSecret.size(); ++i) line += "73";
    SSL_CTX_get_keylog_callback(context.get())(ssl_, line.c_str());
  }
  ~Machine() {
    SSL_free(ssl_);
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  /// Application data, unless some still waits for the socket.
  void WriteData(std::string_view data, std::size_t piece) {
    if (!waiting_) {
      std::vector<std::string_view> pieces;
      for (std::size_t at = 0; at < data.size(); at += piece) pieces.push_back(data.substr(at, piece));
      buffer_->BeginBatch();
      const long sealed = buffer_->Seal(pieces);
      Check(sealed >= 0 && static_cast<std::size_t>(sealed) <= data.size());
      plain_.append(data.substr(0, static_cast<std::size_t>(sealed)));
    }
    const RecordBuffer::Outcome outcome = buffer_->Send();
    Check(outcome != RecordBuffer::Outcome::kFailed);
    waiting_ = outcome == RecordBuffer::Outcome::kFull;
  }
  void WriteControl(int type, std::string message) {
    BIO_ctrl(bio_, kSetRecordType, type, nullptr);
    std::size_t written = 0;
    if (BIO_write_ex(bio_, message.data(), message.size(), &written) == 1) {
      Check(written == message.size());
      control_ += static_cast<char>(type) + message;
    } else {
      Check(BIO_should_write(bio_));
    }
  }
  void ReadAtPeer(std::size_t size) {
    char bytes[16384];
    const ssize_t count = ::recv(ends_[1], bytes, std::min(size, sizeof(bytes)), 0);
    if (count > 0) opener_.Feed({bytes, static_cast<std::size_t>(count)});
  }
  void Input(std::string_view bytes) {
    (void)!::send(ends_[1], bytes.data(), bytes.size(), MSG_NOSIGNAL);
    char read[512];
    std::size_t count = 0;
    buffer_->BeginTurn();
    while (BIO_read_ex(bio_, read, sizeof(read), &count) == 1) {
    }
    Check(BIO_should_read(bio_));
  }
  void Finish() {
    for (int i = 0; i < 10'000 && (buffer_->HasLeftOver() || i < 2); ++i) {
      buffer_->Settle();
      Check(buffer_->Send() != RecordBuffer::Outcome::kFailed);
      for (int k = 0; k < 64; ++k) ReadAtPeer(16384);
    }
    // Our own KeyUpdates are among the control messages that the peer has seen, in between those that were asked for.
    Check(opener_.plain == plain_ && !opener_.Partial());
    Check(opener_.control.size() >= control_.size());
  }

 private:
  int ends_[2];
  SSL* ssl_ = nullptr;
  BIO* bio_ = nullptr;
  RecordBuffer* buffer_ = nullptr;
  bool waiting_ = false;
  std::string plain_, control_;
  Opener opener_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string source(200'000, 'x');
  Machine machine;
  std::unique_ptr<SendGroup> group;
  for (std::size_t i = 0; i + 2 < size && i < 300; i += 3) {
    const std::size_t number = data[i + 1] << 8 | data[i + 2];
    switch (data[i] % 8) {
      case 0: machine.WriteData(std::string_view(source).substr(0, number * 3), 1 + number % 5000); break;
      case 1: machine.WriteData(std::string_view(source).substr(0, number % 700), 1 + number % 50); break;
      case 2: machine.WriteControl(RecordCipher::kHandshake, {"\x18\0\0\1\0", 5}); break;
      case 3: machine.WriteControl(number % 2 == 0 ? 21 : RecordCipher::kHandshake, std::string(1 + number % 300, '\4')); break;
      case 4: machine.ReadAtPeer(number); break;
      case 5: machine.Input(std::string_view(reinterpret_cast<const char*>(data) + i, size - i)); break;
      case 6: group = std::make_unique<SendGroup>(); break;
      default: group.reset(); break;
    }
  }
  group.reset();
  machine.Finish();
  return 0;
}
