#include "lib/net/tls/record_buffer.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include <openssl/crypto.h>
#include <sys/socket.h>

#include "lib/base/log.h"
#include "lib/net/tls/record_batch.h"
#include "lib/net/tls/record_bio.h"
#include "lib/net/tls/traffic_secret.h"
#include "lib/net/transport.h"

namespace apimesh::net {
namespace {

constexpr char kKeyUpdate = 24;  // the first byte of a KeyUpdate message
constexpr std::string_view kKeyUpdateMessage("\x18\x00\x00\x01\x00",
                                             5);  // does not request that the peer changes its key, too
std::atomic<bool> use_own_records{true};

/// Takes the plaintext of one record after the other from the front of pieces.
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
  /// The bytes in all records so far.
  std::size_t Taken() const { return taken_; }

 private:
  std::span<const std::string_view> pieces_;
  std::size_t offset_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace

void UseOwnRecords(bool own) { use_own_records = own; }

void RecordBuffer::Prepare(SSL_CTX* context, bool own_records, std::uint64_t records_per_key) {
  RecordBio::ObserveRecordsOf(context);
  RecordBio::SetRecordsPerKey(context, records_per_key);
  if (own_records && use_own_records && RecordCipher::Supported()) RecordBio::TakeRecordsOf(context);
}

RecordBuffer& RecordBuffer::Attach(SSL* ssl, int fd, const Clock& clock) { return RecordBio::Attach(ssl, fd, clock); }

RecordBuffer::~RecordBuffer() {
  FlushGroup();
  OPENSSL_cleanse(secret_.data(), secret_.size());
}

void RecordBuffer::HandshakeDone() { control_records_.HandshakeDone(); }

void RecordBuffer::CountControlRecord() {
  if (broken_ || control_records_.Count(clock_.Steady())) return;
  log::Debug("a TLS connection is closed: its peer sends too many records without application data");
  Break();
}

void RecordBuffer::Break() {
  broken_ = true;
  ::shutdown(fd_, SHUT_RDWR);  // wakes operations that wait for input or for room
}

long RecordBuffer::ReadSome(char* data, std::size_t size) {
  if (broken_) return kFailed;
  if (may_read_ == 0) return kWouldBlock;
  const ssize_t count = ::recv(fd_, data, std::min(size, may_read_), 0);
  end_of_input_ = count == 0;
  if (count < 0) return IsTemporary(errno) ? kWouldBlock : kFailed;
  may_read_ -= static_cast<std::size_t>(count);
  return static_cast<long>(count);
}

void RecordBuffer::BeginBatch() {
  FlushGroup();
  collecting_ = true;
}

bool RecordBuffer::BatchFull() const { return RecordBatch::OfThisThread().Full(); }

void RecordBuffer::FlushGroup() {
  if (grouped_) RecordBatch::OfThisThread().Flush();
}

void RecordBuffer::Sent(std::string_view records, long result) {
  grouped_ = false;
  if (result == static_cast<long>(records.size())) return;
  if (result < 0 && !IsTemporary(static_cast<int>(-result))) return Break();
  KeepUnsent(records.substr(static_cast<std::size_t>(std::max(result, 0L))));
  if (left_over_) left_over_();
}

void RecordBuffer::KeepUnsent(std::string_view records) {
  unsent_.erase(0, std::exchange(unsent_begin_, 0));
  unsent_.append(records);
}

long RecordBuffer::Seal(std::span<const std::string_view> pieces) {
  RecordBatch& batch = RecordBatch::OfThisThread();
  RecordPieces records(pieces);
  std::size_t taken = 0;
  while (!BatchFull()) {
    if (cipher_->Sequence() >= records_per_key_ && !RenewKey()) return kFailed;
    const std::span<const std::string_view> record = records.Next();
    const std::size_t size = records.Taken() - std::exchange(taken, records.Taken());
    if (size == 0) break;
    batch.Added(cipher_->Seal(RecordCipher::kApplicationData, record, batch.Room(size + RecordCipher::kOverhead)));
  }
  return static_cast<long>(taken);
}

long RecordBuffer::SendSome(std::string_view bytes) const {
  const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<long>(sent);
  return IsTemporary(errno) ? kWouldBlock : kFailed;
}

long RecordBuffer::Take(std::string_view bytes) {
  if (broken_) return kFailed;
  FlushGroup();
  if (!collecting_ && HasLeftOver()) {
    const Outcome outcome = SendUnsent();
    if (outcome != Outcome::kSent) return outcome == Outcome::kFull ? kWouldBlock : kFailed;
  }
  if (cipher_) return TakeSealed(bytes);
  if (!collecting_) return SendSome(bytes);
  RecordBatch& batch = RecordBatch::OfThisThread();
  std::memcpy(batch.Room(bytes.size()), bytes.data(), bytes.size());
  batch.Added(bytes.size());
  return static_cast<long>(bytes.size());
}

/// Sends the messages that OpenSSL itself writes: session tickets, alerts, new keys. Either nothing waits for the
/// socket, or the message is part of a batch.
long RecordBuffer::TakeSealed(std::string_view bytes) {
  const unsigned char type = std::exchange(next_type_, RecordCipher::kApplicationData);
  const bool new_key = type == RecordCipher::kHandshake && bytes.starts_with(kKeyUpdate);
  RecordBatch& batch = RecordBatch::OfThisThread();
  std::string own;
  if (!collecting_) own.resize(bytes.size() + RecordCipher::kOverhead);
  char* const room = collecting_ ? batch.Room(bytes.size() + RecordCipher::kOverhead) : own.data();
  const std::size_t size = cipher_->Seal(type, std::span(&bytes, 1), room);
  if (new_key && !NextKey()) return kFailed;
  if (collecting_) {
    batch.Added(size);
    return static_cast<long>(bytes.size());
  }
  const long sent = SendSome(own);
  if (sent == kFailed) return kFailed;
  if (sent < static_cast<long>(size)) {
    KeepUnsent(std::string_view(own).substr(static_cast<std::size_t>(std::max(sent, 0L))));
    if (left_over_) left_over_();
  }
  return static_cast<long>(bytes.size());
}

bool RecordBuffer::RenewKey() {
  RecordBatch& batch = RecordBatch::OfThisThread();
  batch.Added(cipher_->Seal(RecordCipher::kHandshake, std::span(&kKeyUpdateMessage, 1),
                            batch.Room(kKeyUpdateMessage.size() + RecordCipher::kOverhead)));
  return NextKey();
}

bool RecordBuffer::NextKey() {
  if (secret_.empty()) return false;
  std::string next = NextTrafficSecret(secret_);
  secret_.swap(next);
  std::string key = TrafficKey(secret_), iv = TrafficIv(secret_);
  cipher_ = RecordCipher::New(key, iv, 0);
  for (std::string* old : {&next, &key, &iv}) OPENSSL_cleanse(old->data(), old->size());
  return Seals();
}

RecordBuffer::Outcome RecordBuffer::Send() {
  collecting_ = false;
  RecordBatch& batch = RecordBatch::OfThisThread();
  if (broken_) {
    batch.Clear();
    return Outcome::kFailed;
  }
  if (!HasLeftOver() && batch.Grouping() && !batch.View().empty()) {
    grouped_ = true;
    batch.Postpone(*this, fd_);
    return Outcome::kSent;
  }
  if (!HasLeftOver()) {
    const long sent = batch.View().empty() ? 0 : SendSome(batch.View());
    if (sent == kFailed) {
      batch.Clear();
      return Outcome::kFailed;
    }
    KeepUnsent(batch.View().substr(static_cast<std::size_t>(std::max(sent, 0L))));
  } else {
    KeepUnsent(batch.View());
  }
  batch.Clear();
  return SendUnsent();
}

RecordBuffer::Outcome RecordBuffer::SendUnsent() {
  while (HasLeftOver()) {
    const long sent = SendSome(std::string_view(unsent_).substr(unsent_begin_));
    if (sent < 0) return sent == kWouldBlock ? Outcome::kFull : Outcome::kFailed;
    unsent_begin_ += static_cast<std::size_t>(sent);
  }
  std::string().swap(unsent_);  // an idle connection holds no buffers; an assignment would keep the memory
  unsent_begin_ = 0;
  return Outcome::kSent;
}

void RecordBuffer::Drop() {
  collecting_ = false;
  RecordBatch::OfThisThread().Clear();
}

}  // namespace apimesh::net
