#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace apimesh::http {

/// Makes the records of one direction of a TLS 1.3 connection: AES-GCM with the widest instructions that the processor has
/// (decision 0021). It reads the pieces where they lie and writes the record where it is sent from. Used on one thread.
class RecordCipher {
 public:
  static constexpr std::size_t kOverhead = 5 + 1 + 16;  // header, inner type, tag
  static constexpr unsigned char kHandshake = 22, kApplicationData = 23;
  static constexpr std::size_t kIvBytes = 12;

  /// Whether this processor can do it better than OpenSSL. Without, there is no RecordCipher.
  static bool Supported();

  /// `key`: 16 or 32 bytes. `sequence`: of the first record. nullptr: not supported.
  static std::unique_ptr<RecordCipher> New(std::string_view key, std::string_view iv, std::uint64_t sequence);

  ~RecordCipher();
  RecordCipher(const RecordCipher&) = delete;

  /// The number of the next record under this key, which is also how many there were if the key began with 0.
  std::uint64_t Sequence() const { return sequence_; }
  /// Writes the record of `pieces`, at most 16 KB together, to `out`, which has room for them and kOverhead. Returns its size.
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

}  // namespace apimesh::http
