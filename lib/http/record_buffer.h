#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lib/http/control_records.h"
#include "lib/http/record_cipher.h"

namespace apimesh::http {

/// Whether TLS servers of this process make their records by RecordCipher where the processor supports it (the default), or leave all
/// records to OpenSSL. For the whole process, before the first TLS server starts.
void UseOwnRecords(bool own);

/// The socket as TLS sees it: a BIO that collects the records of one batch and sends them by one system call. Outside of a
/// batch (handshake, alerts) they go to the socket at once, but never past records that still wait: then OpenSSL has to wait, too.
///
/// Where OpenSSL may hand over the making of records (TLS 1.3 with AES-GCM, as it does to a kernel that can), they are made here
/// from then on: Seals() tells, and Seal() takes what SSL_write() would have taken.
///
/// A peer can't make this side work without end or collect memory: what is read in one turn of the event loop, the number of records without
/// application data (ControlRecordLimit), and what waits for the socket (two batches and a record) are limited.
class RecordBuffer {
 public:
  static constexpr std::size_t kRecordBytes = 16384;  // the largest plaintext of one
  static constexpr std::size_t kReadPerTurn = 128 << 10;
  /// AES-GCM loses its safety margin after 2^24.5 full records under one key (RFC 8446, 5.5).
  static constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 24;
  static constexpr long kWouldBlock = -1;
  static constexpr long kFailed = -2;
  enum class Outcome { kSent, kFull, kFailed };

  /// Prepares `context`: its sessions count records. `own_records`: they may hand over their records, see UseOwnRecords().
  static void Prepare(SSL_CTX* context, bool own_records, std::uint64_t records_per_key = kRecordsPerKey);
  /// Becomes the way in and out of `ssl`, which owns it.
  static RecordBuffer& Attach(SSL* ssl, int fd);

  ~RecordBuffer();

  /// Runs when records were left over because the socket is full: somebody has to Send() them when there is room.
  void OnLeftOver(std::function<void()> callback) { left_over_ = std::move(callback); }
  bool HasLeftOver() const { return unsent_begin_ < unsent_.size(); }

  /// A new turn of the event loop: another kReadPerTurn bytes may be read.
  void BeginTurn() { may_read_ = kReadPerTurn; }
  void HandshakeDone();

  void BeginBatch();
  bool BatchFull() const;
  bool Seals() const { return cipher_ != nullptr; }
  /// Adds records of the front of `pieces` to the batch until it is full. Returns how many bytes they hold; kFailed: there is no next key.
  long Seal(std::span<const std::string_view> pieces);
  /// True if OpenSSL, which makes the records of this connection, needs another key before the next one.
  bool KeyUsedUp() const { return !Seals() && written_records_ >= records_per_key_; }
  void KeyRenewed() { written_records_ = 0; }
  /// Ends the batch and sends it, or what is left of it. In a SendGroup it counts as sent when the group takes it over.
  Outcome Send();
  /// What a group has taken over leaves now. Before anything else happens to the socket.
  void Settle();
  /// Ends the batch without a trace. No record may follow it: the other side would miss one.
  void Drop();

 private:
  friend struct RecordBio;
  friend class RecordBatch;
  explicit RecordBuffer(int fd) : fd_(fd) {}
  /// For OpenSSL: bytes taken or read, kWouldBlock or kFailed; 0 is the end of the input.
  long Take(std::string_view bytes);
  long ReadSome(char* data, std::size_t size);
  /// From OpenSSL: the peer has sent a record without application data; OpenSSL has written a record.
  void CountControlRecord();
  void CountWrittenRecord() { ++written_records_; }

  long TakeSealed(std::string_view bytes);
  long SendSome(std::string_view bytes) const;
  Outcome SendUnsent();
  /// What became of records that a group had taken over: how many bytes the socket took, or the negative errno.
  void Sent(std::string_view records, long result);
  void KeepUnsent(std::string_view records);
  /// No record leaves or comes in any more.
  void Break();
  /// After a KeyUpdate of ours.
  bool NextKey();
  /// Adds our own KeyUpdate to the batch.
  bool RenewKey();

  const int fd_;
  bool collecting_ = false;
  bool grouped_ = false;  // records of ours wait in the thread's RecordBatch
  bool broken_ = false;   // records are missing, or the peer floods us: none may follow
  bool end_of_input_ = false;
  unsigned char next_type_ = RecordCipher::kApplicationData;  // of what OpenSSL writes next
  std::size_t may_read_ = kReadPerTurn;
  ControlRecordLimit control_records_;
  std::uint64_t records_per_key_ = kRecordsPerKey;
  std::uint64_t written_records_ = 0;  // by OpenSSL, under its current key
  std::string unsent_;                 // from unsent_begin_ on: what the socket had no room for
  std::size_t unsent_begin_ = 0;
  std::function<void()> left_over_;
  std::unique_ptr<RecordCipher> cipher_;
  std::string secret_;  // that cipher_'s key is made of
};

}  // namespace apimesh::http
