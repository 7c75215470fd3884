#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <openssl/types.h>

#include "lib/net/tls/control_records.h"
#include "lib/net/tls/record_cipher.h"

namespace apimesh::net {

/// Whether the TLS servers of this process encrypt their records with RecordCipher if the processor supports it (the
/// default), or leave all records to OpenSSL. It applies to the complete process and must be called before the first
/// TLS server starts.
void UseOwnRecords(bool own);

/// The socket of a TLS connection as a BIO of OpenSSL. It collects the records of one batch and sends them with one
/// system call. Outside of a batch (handshake, alerts) records are sent immediately, unless earlier records still wait;
/// then OpenSSL must wait, too.
///
/// If OpenSSL can offload the encryption of records (TLS 1.3 with AES-GCM, as it does for a kernel that supports TLS),
/// this class encrypts them: then Seals() is true, and the caller must use Seal() instead of SSL_write().
///
/// The work and memory that a peer can cause are limited: by the bytes that are read in one turn of the event loop, the
/// number of records without application data (ControlRecordLimit), and the bytes that wait for the socket (two batches
/// and a record).
class RecordBuffer {
 public:
  static constexpr std::size_t kRecordBytes = 16384;  // the maximum plaintext of one record
  static constexpr std::size_t kReadPerTurn = 128 << 10;
  /// AES-GCM loses its safety margin after 2^24.5 full-size records under one key (RFC 8446, 5.5).
  static constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 24;
  static constexpr long kWouldBlock = -1;
  static constexpr long kFailed = -2;
  enum class Outcome { kSent, kFull, kFailed };

  /// Prepares `context` so that its sessions count records. `own_records`: they may offload their records, see
  /// UseOwnRecords().
  static void Prepare(SSL_CTX* context, bool own_records, std::uint64_t records_per_key = kRecordsPerKey);
  /// Makes a buffer the BIO of `ssl`, which owns it.
  static RecordBuffer& Attach(SSL* ssl, int fd, const Clock& clock);

  ~RecordBuffer();

  /// `callback` runs when records are left because the socket is full: the owner must call Send() when there is room.
  void OnLeftOver(std::function<void()> callback) { left_over_ = std::move(callback); }
  bool HasLeftOver() const { return unsent_begin_ < unsent_.size(); }

  /// Begins a new turn of the event loop: another kReadPerTurn bytes may be read.
  void BeginTurn() { may_read_ = kReadPerTurn; }
  void HandshakeDone();

  void BeginBatch();
  bool BatchFull() const;
  bool Seals() const { return cipher_ != nullptr; }
  /// Adds records made from the front of `pieces` to the batch until it is full. Returns how many bytes they hold, or
  /// kFailed if the next key cannot be computed.
  long Seal(std::span<const std::string_view> pieces);
  /// Whether OpenSSL, if it encrypts the records of this connection, needs another key before the next record.
  bool KeyUsedUp() const { return !Seals() && written_records_ >= records_per_key_; }
  void KeyRenewed() { written_records_ = 0; }
  /// Ends the batch and sends it, or the rest of it. In a SendGroup, it counts as sent when it is added to the group.
  Outcome Send();
  /// Sends the records that are in a group now. It must be called before any other operation on the socket.
  void FlushGroup();
  /// Discards the batch. No record may be sent afterwards, because the peer would miss one.
  void Drop();

 private:
  friend struct RecordBio;
  friend class RecordBatch;
  RecordBuffer(int fd, const Clock& clock) : fd_(fd), clock_(clock) {}
  /// Called by OpenSSL: the number of bytes written or read, kWouldBlock or kFailed; 0 is the end of the input.
  long Take(std::string_view bytes);
  long ReadSome(char* data, std::size_t size);
  /// Called for records that OpenSSL reports: the peer has sent one without application data; OpenSSL has written one.
  void CountControlRecord();
  void CountWrittenRecord() { ++written_records_; }

  long TakeSealed(std::string_view bytes);
  long SendSome(std::string_view bytes) const;
  Outcome SendUnsent();
  /// Called with the result of sending grouped records: the number of bytes that the socket accepted, or the negative
  /// errno.
  void Sent(std::string_view records, long result);
  void KeepUnsent(std::string_view records);
  /// Stops sending and receiving records.
  void Break();
  /// Switches to the next key after a KeyUpdate of this side.
  bool NextKey();
  /// Adds a KeyUpdate to the batch.
  bool RenewKey();

  const int fd_;
  const Clock& clock_;
  bool collecting_ = false;
  bool grouped_ = false;  // records of this connection wait in the thread's RecordBatch
  bool broken_ = false;   // records are missing, or the peer floods: no record may follow
  bool end_of_input_ = false;
  unsigned char next_type_ = RecordCipher::kApplicationData;  // of the next record that OpenSSL writes
  std::size_t may_read_ = kReadPerTurn;
  ControlRecordLimit control_records_;
  std::uint64_t records_per_key_ = kRecordsPerKey;
  std::uint64_t written_records_ = 0;  // by OpenSSL, under its current key
  std::string unsent_;                 // from unsent_begin_ on: bytes for which the socket had no room
  std::size_t unsent_begin_ = 0;
  std::function<void()> left_over_;
  std::unique_ptr<RecordCipher> cipher_;
  std::string secret_;  // from which the key of cipher_ is derived
};

}  // namespace apimesh::net
