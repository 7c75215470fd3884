// Links: lib/net/transport.cc lib/net/tls/record_buffer.cc lib/net/tls/record_bio.cc lib/net/tls/record_batch.cc
// Links: lib/net/tls/record_cipher.cc lib/net/send_all.cc lib/net/tls/traffic_secret.cc lib/net/tls/tls_common.cc
// Links: meta PkgConfig::URING OpenSSL::SSL IPSec_MB
// Drives the TLS record layer of two connections of one thread as OpenSSL and the transport do: application data in
// batches and in groups of connections, control messages, KeyUpdates of both sides, sockets that are full most of the
// time and sockets that fail. In any order of these, the peer must be able to decrypt all records and must find every
// message at its position, and the bytes that wait for a socket must stay within their limit. Incoming bytes are read
// as OpenSSL reads them.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>

#include <linux/tls.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "lib/net/send_group.h"
#include "lib/net/tls/record_batch.h"
#include "lib/net/tls/record_buffer.h"
#include "lib/net/tls/tls_common.h"
#include "lib/net/tls/traffic_secret.h"
#include "lib/testing/manual_clock.h"

using namespace apimesh::net;

namespace {

const apimesh::testing::ManualClock kClock;
constexpr int kSetRecordKey = 72, kSetRecordType = 74;
constexpr std::size_t kConnections = 2;
constexpr std::uint64_t kRecordsPerKey = 20;
constexpr std::string_view kKeyUpdate("\x18\0\0\1\0", 5);

void Check(bool good, int line = __builtin_LINE()) {
  if (good) return;
  std::fprintf(stderr, "the check in line %d failed\n", line);
  std::abort();
}

// ---- sockets in memory, which replace those of the kernel: the functions at the end of this file use them

struct FakeSocket {
  std::string sent;  // bytes that the peer has not read
  std::size_t room = 0;
  std::string_view input;
  bool failed = false;
};
std::array<FakeSocket, kConnections> sockets;

// ---- the state that both sides know

struct Keys {
  std::string secret, key, iv;
};
/// The keys after this many KeyUpdates. They are the same for every input.
const Keys& KeysAfter(std::size_t updates) {
  static std::deque<Keys> all;
  while (all.size() <= updates) {
    const std::string secret = all.empty() ? std::string(32, 's') : NextTrafficSecret(all.back().secret);
    all.push_back({secret, TrafficKey(secret), TrafficIv(secret)});
  }
  return all[updates];
}

/// All application data of a connection is one stream, whose content differs at every position.
std::string_view Data(std::size_t position, std::size_t size) {
  constexpr std::size_t kPeriod = 65'521, kLongest = 300'000;
  static const std::string bytes = [] {
    std::string made(kPeriod + kLongest, '\0');
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<char>((i % kPeriod) * 2'654'435'761u >> 13);
    return made;
  }();
  return std::string_view(bytes).substr(position % kPeriod, size);
}

struct ControlMessage {
  std::size_t position;  // in the application data
  unsigned char type;
  std::string text;
  bool operator==(const ControlMessage&) const = default;
};

/// The peer: decrypts records with OpenSSL and follows KeyUpdates.
class Peer {
 public:
  Peer() : context_(EVP_CIPHER_CTX_new()) {}

  void Reset() {
    in_.clear();
    received = 0;
    control.clear();
    UseKey(0);
  }
  void Feed(std::string_view bytes) {
    in_.append(bytes);
    std::size_t at = 0;
    while (in_.size() - at >= 5) {
      const std::size_t size = static_cast<unsigned char>(in_[at + 3]) << 8 | static_cast<unsigned char>(in_[at + 4]);
      if (in_.size() - at < 5 + size) break;
      Open(std::string_view(in_).substr(at, 5 + size));
      at += 5 + size;
    }
    in_.erase(0, at);
  }
  bool HasPartialRecord() const { return !in_.empty(); }

  std::size_t received = 0;  // application data
  std::vector<ControlMessage> control;

 private:
  void UseKey(std::size_t updates) {
    static EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr);
    updates_ = updates;
    sequence_ = 0;
    const std::string& key = KeysAfter(updates).key;
    EVP_DecryptInit_ex(context_, cipher, nullptr, reinterpret_cast<const unsigned char*>(key.data()), nullptr);
  }
  void Open(std::string_view record) {
    Check(record.size() >= RecordCipher::kOverhead);
    const auto* bytes = reinterpret_cast<const unsigned char*>(record.data());
    unsigned char nonce[12];
    std::memcpy(nonce, KeysAfter(updates_).iv.data(), sizeof(nonce));
    for (int i = 0; i < 8; ++i) nonce[11 - i] ^= static_cast<unsigned char>(sequence_ >> (8 * i));
    ++sequence_;
    text_.resize(record.size() - 5 - 16);
    auto* out = reinterpret_cast<unsigned char*>(text_.data());
    int length = 0;
    EVP_DecryptInit_ex(context_, nullptr, nullptr, nullptr, nonce);
    EVP_DecryptUpdate(context_, nullptr, &length, bytes, 5);
    EVP_DecryptUpdate(context_, out, &length, bytes + 5, static_cast<int>(text_.size()));
    EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_GCM_SET_TAG, 16, const_cast<unsigned char*>(bytes) + 5 + text_.size());
    Check(EVP_DecryptFinal_ex(context_, out + length, &length) == 1);
    const auto type = static_cast<unsigned char>(text_.back());
    text_.pop_back();
    if (type == RecordCipher::kApplicationData) {
      Check(sequence_ <= kRecordsPerKey && text_ == Data(received, text_.size()));
      received += text_.size();
    } else if (type == RecordCipher::kHandshake && text_ == kKeyUpdate) {
      UseKey(updates_ + 1);
    } else {
      control.push_back({received, type, text_});
    }
  }

  EVP_CIPHER_CTX* const context_;
  std::string in_, text_;
  std::size_t updates_ = 0;
  std::uint64_t sequence_ = 0;
};

/// One connection after its handshake. `fd` is its index in `sockets`.
class Connection {
 public:
  explicit Connection(int fd) : fd_(fd), socket_(sockets[fd]) {
    socket_ = {};
    static const SslContextPtr context = [] {
      SslContextPtr made = NewSslContext(true);
      RecordBuffer::Prepare(made.get(), true, kRecordsPerKey);
      return made;
    }();
    // Creating an SSL costs far more than the rest, and it is only needed to hold the buffer.
    static const std::array<SSL*, kConnections> reused = {SSL_new(context.get()), SSL_new(context.get())};
    ssl_ = reused[fd];
    buffer_ = &RecordBuffer::Attach(ssl_, fd, kClock);
    buffer_->OnLeftOver([this] { told_left_over_ = true; });
    bio_ = SSL_get_wbio(ssl_);
    tls12_crypto_info_aes_gcm_128 key{};
    key.info = {TLS_1_3_VERSION, TLS_CIPHER_AES_GCM_128};
    std::memcpy(key.key, KeysAfter(0).key.data(), sizeof(key.key));
    std::memcpy(key.salt, KeysAfter(0).iv.data(), sizeof(key.salt));
    std::memcpy(key.iv, KeysAfter(0).iv.data() + sizeof(key.salt), sizeof(key.iv));
    BIO_ctrl(bio_, kSetRecordKey, 1, &key);
    if (!buffer_->Seals()) std::_Exit(0);  // this processor is not supported
    static const std::string line = [] {
      std::string text = "SERVER_TRAFFIC_SECRET_0 00 ";
      for (std::size_t i = 0; i < 32; ++i) text += "73";
      return text;
    }();
    SSL_CTX_get_keylog_callback(context.get())(ssl_, line.c_str());
    Receiver().Reset();
  }
  ~Connection() { SSL_set_bio(ssl_, nullptr, nullptr); }  // destroys the buffer

  /// Writes application data. If earlier data still waits for the socket, only that is tried again.
  void WriteData(std::size_t size, std::size_t piece) {
    if (!waiting_) {
      const std::string_view data = Data(sealed_, size);
      static std::vector<std::string_view> pieces;
      pieces.clear();
      for (std::size_t at = 0; at < data.size(); at += piece) pieces.push_back(data.substr(at, piece));
      buffer_->BeginBatch();
      const long taken = buffer_->Seal(pieces);
      Check(taken >= 0 && static_cast<std::size_t>(taken) <= data.size());
      sealed_ += static_cast<std::size_t>(taken);
    }
    Sent(buffer_->Send());
    // Two batches, each of which may exceed its limit by a record, and a record that the peer has received only partly.
    constexpr std::size_t kMost = 2 * RecordBatch::kBytes + 3 * RecordBuffer::kRecordBytes;
    Check(socket_.failed || sealed_ - Receiver().received <= socket_.sent.size() + kMost);
  }
  void WriteControl(unsigned char type, std::string_view message) {
    BIO_ctrl(bio_, kSetRecordType, type, nullptr);
    std::size_t written = 0;
    if (BIO_write_ex(bio_, message.data(), message.size(), &written) == 1) {
      Check(written == message.size());
      if (message != kKeyUpdate) control_.push_back({sealed_, type, std::string(message)});
    } else {
      Check(BIO_should_write(bio_) || socket_.failed);
    }
  }
  void ReadAtPeer(std::size_t size) {
    size = std::min(size, socket_.sent.size());
    Receiver().Feed(std::string_view(socket_.sent).substr(0, size));
    socket_.sent.erase(0, size);
  }
  void SetRoom(std::size_t bytes) { socket_.room = bytes; }
  void Fail() { socket_.failed = true; }
  void Input(std::string_view bytes) {
    socket_.input = bytes;
    char read[512];
    std::size_t count = 0, all = 0;
    buffer_->BeginTurn();
    while (BIO_read_ex(bio_, read, sizeof(read), &count) == 1) all += count;
    Check(socket_.failed || (BIO_should_read(bio_) && all == bytes.size()));
  }
  /// Checks that all written data arrives, and nothing else.
  void Finish() {
    buffer_->FlushGroup();
    Check(!buffer_->HasLeftOver() || waiting_ || told_left_over_ || socket_.failed);
    socket_.room = std::size_t{1} << 30;
    Sent(buffer_->Send());
    ReadAtPeer(socket_.sent.size());
    const std::vector<ControlMessage>& seen = Receiver().control;
    if (socket_.failed) {
      Check(seen.size() <= control_.size() && std::equal(seen.begin(), seen.end(), control_.begin()));
    } else {
      Check(!buffer_->HasLeftOver() && !Receiver().HasPartialRecord());
      Check(Receiver().received == sealed_ && seen == control_);
    }
  }

 private:
  Peer& Receiver() const {
    static std::array<Peer, kConnections> peers;
    return peers[static_cast<std::size_t>(fd_)];
  }
  void Sent(RecordBuffer::Outcome outcome) {
    Check(outcome != RecordBuffer::Outcome::kFailed || socket_.failed);
    waiting_ = outcome == RecordBuffer::Outcome::kFull;
    Check(!waiting_ || buffer_->HasLeftOver());
  }

  const int fd_;
  FakeSocket& socket_;
  SSL* ssl_ = nullptr;
  BIO* bio_ = nullptr;
  RecordBuffer* buffer_ = nullptr;
  bool waiting_ = false;
  bool told_left_over_ = false;
  std::size_t sealed_ = 0;
  std::vector<ControlMessage> control_;
};

}  // namespace

extern "C" {

ssize_t send(int fd, const void* bytes, std::size_t size, int) {
  FakeSocket& socket = sockets[static_cast<std::size_t>(fd)];
  const std::size_t free = socket.room - std::min(socket.room, socket.sent.size());
  errno = socket.failed ? EPIPE : EAGAIN;
  if (socket.failed || free == 0) return -1;
  socket.sent.append(static_cast<const char*>(bytes), std::min(size, free));
  return static_cast<ssize_t>(std::min(size, free));
}

ssize_t recv(int fd, void* bytes, std::size_t size, int) {
  FakeSocket& socket = sockets[static_cast<std::size_t>(fd)];
  errno = socket.failed ? ECONNRESET : EAGAIN;
  if (socket.failed || socket.input.empty()) return -1;
  const std::size_t count = socket.input.copy(static_cast<char*>(bytes), size);
  socket.input.remove_prefix(count);
  return static_cast<ssize_t>(count);
}

int shutdown(int fd, int) {
  sockets[static_cast<std::size_t>(fd)].failed = true;
  return 0;
}

/// Three bytes are one step: an operation, a connection and a number.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::array<Connection, kConnections> connections{Connection(0), Connection(1)};
  std::optional<SendGroup> group;
  for (std::size_t i = 0; i + 2 < size && i < 300; i += 3) {
    Connection& connection = connections[data[i] >> 7];
    const std::size_t number = data[i + 1] << 8 | data[i + 2];
    const std::size_t scaled = std::size_t{data[i + 1]} << data[i + 2] % 11;  // up to 261,120, mostly small
    switch (data[i] % 16) {
      case 0: connection.WriteData(scaled, 1 + number % 5000 + scaled / 16); break;
      case 1: connection.WriteData(number % 700, 20 + number % 50); break;
      case 2: connection.WriteControl(RecordCipher::kHandshake, kKeyUpdate); break;
      case 3: connection.WriteControl(number % 2 == 0 ? 21 : 22, std::string(1 + number % 300, '\4')); break;
      case 4: connection.ReadAtPeer(scaled); break;
      case 5: connection.Input(std::string_view(reinterpret_cast<const char*>(data) + i, size - i)); break;
      case 6: group.emplace(); break;
      case 7: group.reset(); break;
      case 8: connection.SetRoom(scaled); break;
      case 9:
        if (number == 0) connection.Fail();
        break;
      default: connection.WriteData(data[i + 1] % 8 * 100, 100); break;
    }
  }
  group.reset();
  for (Connection& connection : connections) connection.Finish();
  return 0;
}

}  // extern "C"
