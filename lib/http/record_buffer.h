#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <functional>
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
  enum class Outcome { kSent, kFull, kFailed };

  /// Lets the sessions of `context` hand over their records.
  static void TakeRecordsOf(SSL_CTX* context);
  /// Becomes the way in and out of `ssl`, which owns it.
  static RecordBuffer& Attach(SSL* ssl, int fd);

  ~RecordBuffer();

  /// Runs when a group has left something that the socket had no room for: somebody has to Send() it when there is.
  void OnLeftOver(std::function<void()> callback) { left_over_ = std::move(callback); }
  bool HasLeftOver() const { return !unsent_.empty(); }

  void BeginBatch();
  bool BatchFull() const;
  bool Seals() const { return cipher_ != nullptr; }
  /// Adds records of the front of `pieces` to the batch until it is full. Returns how many bytes they hold.
  std::size_t Seal(std::span<const std::string_view> pieces);
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
  /// Bytes taken; -1: would block; -2: failed.
  long Take(std::string_view bytes);
  long TakeSealed(std::string_view bytes);
  long SendSome(std::string_view bytes) const;
  /// What became of records that a group had taken over: how many bytes the socket took, or the negative errno.
  void Sent(std::string_view records, long result);
  /// After a KeyUpdate of ours.
  bool NextKey();

  const int fd_;
  bool collecting_ = false;
  bool grouped_ = false;  // records of ours wait in the thread's RecordBatch
  bool broken_ = false;   // records are missing: none may follow
  bool end_of_input_ = false;
  unsigned char next_type_ = RecordCipher::kApplicationData;  // of what OpenSSL writes next
  std::string unsent_;  // what the socket had no room for
  std::function<void()> left_over_;
  std::unique_ptr<RecordCipher> cipher_;
  std::string secret_;  // that cipher_'s key is made of
};

}  // namespace apimesh::http
