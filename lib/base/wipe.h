#pragma once

#include <string>
#include <string_view>

#include <openssl/crypto.h>

namespace apimesh {

/// Overwrites key material that is no longer needed; the compiler does not optimise this away.
inline void Wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

/// Wipes a string at the end of a scope, also if it is left by an exception.
class WipeAtEnd {
 public:
  explicit WipeAtEnd(std::string& secret) : secret_(secret) {}
  ~WipeAtEnd() { Wipe(secret_); }
  WipeAtEnd(const WipeAtEnd&) = delete;

 private:
  std::string& secret_;
};

/// Key material that is overwritten when its owner is destroyed. Its string must not be in the internal buffer of
/// std::string (15 bytes); otherwise a move leaves a copy behind.
class SecretBytes {
 public:
  explicit SecretBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  ~SecretBytes() { Wipe(bytes_); }
  SecretBytes(SecretBytes&& other) noexcept : bytes_(std::move(other.bytes_)) { other.bytes_.clear(); }
  SecretBytes(const SecretBytes&) = delete;

  std::string_view View() const { return bytes_; }
  operator std::string_view() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
};

}  // namespace apimesh
