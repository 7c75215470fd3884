#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace apimesh::http {

/// Where TLS puts its records: a BIO that collects those of one batch and sends them by one system call. Outside of a
/// batch (handshake, alerts) they go to the socket at once, but never past records that still wait.
class RecordBuffer {
 public:
  static constexpr std::size_t kRecordBytes = 16384;  // the largest plaintext of one
  static constexpr std::size_t kBatchBytes = 128 << 10;
  enum class Outcome { kSent, kFull, kFailed };

  /// Becomes the way out of `ssl`, which owns it; the way in is the socket itself.
  static RecordBuffer& Attach(SSL* ssl, int fd);

  void BeginBatch() { collecting_ = true; }
  bool BatchFull() const;
  /// Ends the batch and sends it, or what is left of it.
  Outcome Send();
  /// Ends the batch without a trace. No record may follow it: the other side would miss one.
  void Drop();

 private:
  friend struct RecordBio;
  explicit RecordBuffer(int fd) : fd_(fd) {}
  /// Bytes taken; -1: would block; -2: failed.
  long Take(std::string_view bytes);
  long SendSome(std::string_view bytes) const;

  const int fd_;
  bool collecting_ = false;
  std::string unsent_;  // what the socket had no room for
};

}  // namespace apimesh::http
