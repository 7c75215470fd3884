#pragma once

#include <openssl/crypto.h>

#include <string>
#include <string_view>

namespace apimesh {

/// Overwrites key material that is no longer needed, in a way that the compiler does not remove.
inline void Wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

/// Wipes a string at the end of a scope, however it is left.
class WipeAtEnd {
 public:
  explicit WipeAtEnd(std::string& secret) : secret_(secret) {}
  ~WipeAtEnd() { Wipe(secret_); }
  WipeAtEnd(const WipeAtEnd&) = delete;

 private:
  std::string& secret_;
};

/// Key material that is overwritten with its owner. It must be longer than what std::string keeps inside itself (15 bytes), or moving
/// leaves a copy behind.
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
