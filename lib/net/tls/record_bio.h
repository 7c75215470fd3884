#pragma once

#include <cstddef>
#include <cstdint>

#include <openssl/bio.h>

#include "lib/base/clock.h"

namespace apimesh::net {

class RecordBuffer;

/// The BIO of a RecordBuffer, and the callbacks with which OpenSSL reports records and secrets.
struct RecordBio {
  /// Counts the records of all sessions of `context` in their RecordBuffer.
  static void ObserveRecordsOf(SSL_CTX* context);
  /// Makes OpenSSL pass on the keys of outgoing records, as it does to a kernel that implements TLS.
  static void TakeRecordsOf(SSL_CTX* context);
  static void SetRecordsPerKey(SSL_CTX* context, std::uint64_t records);
  /// The buffer of `ssl`, which owns it. It is created by the first call.
  static RecordBuffer& Attach(SSL* ssl, int fd, const Clock& clock);

 private:
  static RecordBuffer* Of(BIO* bio);
  static bool Is(BIO* bio);
  static int Type();
  static BIO_METHOD* Method();

  static int Write(BIO* bio, const char* data, std::size_t size, std::size_t* written);
  static int Read(BIO* bio, char* data, std::size_t size, std::size_t* read);
  static long Control(BIO* bio, int command, long number, void* argument);
  static int Destroy(BIO* bio);
  static void OnRecord(int written, int version, int what, const void* bytes, std::size_t size, SSL* ssl,
                       void* argument);
  static void KeepSecret(const SSL* ssl, const char* line);
};

}  // namespace apimesh::net
