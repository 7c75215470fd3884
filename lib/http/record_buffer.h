#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lib/http/record_cipher.h"

namespace apimesh::http {

/// The socket as TLS sees it: a BIO that collects the records of one batch and sends them by one system call. Outside of a
/// batch (handshake, alerts) they go to the socket at once, but never past records that still wait. What comes in is read as it is.
///
/// Where OpenSSL may hand over the making of records (TLS 1.3 with AES-GCM, as it does to a kernel that can), they are made here
/// from then on: Seals() tells, and Seal() takes what SSL_write() would have taken.
class RecordBuffer {
 public:
  static constexpr std::size_t kRecordBytes = 16384;  // the largest plaintext of one
  static constexpr std::size_t kBatchBytes = 128 << 10;
  enum class Outcome { kSent, kFull, kFailed };

  /// Lets the sessions of `context` hand over their records.
  static void TakeRecordsOf(SSL_CTX* context);
  /// Becomes the way in and out of `ssl`, which owns it.
  static RecordBuffer& Attach(SSL* ssl, int fd);

  ~RecordBuffer();

  void BeginBatch() { collecting_ = true; }
  bool BatchFull() const;
  bool Seals() const { return cipher_ != nullptr; }
  /// Adds records of the front of `pieces` to the batch until it is full. Returns how many bytes they hold.
  std::size_t Seal(std::span<const std::string_view> pieces);
  /// Ends the batch and sends it, or what is left of it.
  Outcome Send();
  /// Ends the batch without a trace. No record may follow it: the other side would miss one.
  void Drop();

 private:
  friend struct RecordBio;
  explicit RecordBuffer(int fd) : fd_(fd) {}
  /// Bytes taken; -1: would block; -2: failed.
  long Take(std::string_view bytes);
  long TakeSealed(std::string_view bytes);
  long SendSome(std::string_view bytes) const;
  /// After a KeyUpdate of ours.
  bool NextKey();

  const int fd_;
  bool collecting_ = false;
  bool end_of_input_ = false;
  unsigned char next_type_ = RecordCipher::kApplicationData;  // of what OpenSSL writes next
  std::string unsent_;  // what the socket had no room for
  std::unique_ptr<RecordCipher> cipher_;
  std::string secret_;  // that cipher_'s key is made of
};

}  // namespace apimesh::http
