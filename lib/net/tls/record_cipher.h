#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace apimesh::net {

/// Encrypts the records of one direction of a TLS 1.3 connection: AES-GCM with the widest instructions of the processor
/// (decision 0021). It reads the pieces in place and writes the record directly to the send buffer. Used on one thread.
class RecordCipher {
 public:
  static constexpr std::size_t kOverhead = 5 + 1 + 16;  // header, inner type, tag
  static constexpr unsigned char kHandshake = 22, kApplicationData = 23;
  static constexpr std::size_t kIvBytes = 12;

  /// Whether this processor supports it with a gain over OpenSSL. If not, New() returns nullptr.
  static bool Supported();

  /// `key` has 16 or 32 bytes. `sequence` is the number of the first record. Returns nullptr if it is not supported.
  static std::unique_ptr<RecordCipher> New(std::string_view key, std::string_view iv, std::uint64_t sequence);

  ~RecordCipher();
  RecordCipher(const RecordCipher&) = delete;

  /// The number of the next record under this key. If the key began with 0, it is also the number of records so far.
  std::uint64_t Sequence() const { return sequence_; }
  /// Writes the record of `pieces`, at most 16 KB in total, to `out`, which must have room for them and kOverhead.
  /// Returns the size of the record.
  std::size_t Seal(unsigned char type, std::span<const std::string_view> pieces, char* out);

 private:
  struct Suite;
  struct Key;
  RecordCipher(const Suite& suite, std::string_view key, std::string_view iv, std::uint64_t sequence);

  const Suite& suite_;
  std::uint64_t sequence_;
  std::array<unsigned char, kIvBytes> iv_{};
  std::unique_ptr<Key> key_;
};

}  // namespace apimesh::net
