#include "lib/encryption/ciphers.h"

#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sodium.h>

#include "lib/base/wipe.h"

namespace apimesh::encryption {
namespace {

constexpr std::size_t kGcmNonce = 12, kGcmTag = 16, kBlock = 16, kInfo = 32;

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* Bytes(std::string& text, std::size_t at = 0) {
  return reinterpret_cast<unsigned char*>(text.data()) + at;
}

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;
CipherContext NewContext() { return CipherContext(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free); }

Failure TooShort() { return Fail("the stored data was shorter than the required size"); }

class Gcm final : public LocalTransformer {
 public:
  explicit Gcm(std::string key) : key_(std::move(key)) {}

  Result<std::string> Seal(std::string_view plain, std::string_view key) const override {
    std::string out = RandomBytes(kGcmNonce);
    out.resize(kGcmNonce + plain.size() + kGcmTag);
    const CipherContext ctx = NewContext();
    int length = 0;
    const bool done =
        EVP_EncryptInit_ex(ctx.get(), Kind(), nullptr, Bytes(key_), Bytes(out)) == 1 &&
        EVP_EncryptUpdate(ctx.get(), nullptr, &length, Bytes(key), static_cast<int>(key.size())) == 1 &&
        EVP_EncryptUpdate(ctx.get(), Bytes(out, kGcmNonce), &length, Bytes(plain), static_cast<int>(plain.size())) ==
            1 &&
        EVP_EncryptFinal_ex(ctx.get(), Bytes(out, kGcmNonce + plain.size()), &length) == 1 &&
        EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_GET_TAG, kGcmTag, Bytes(out, kGcmNonce + plain.size())) == 1;
    if (!done) return Fail("AES-GCM failed");
    return out;
  }

  Result<Opened> Open(std::string_view stored, std::string_view key) const override {
    if (stored.size() < kGcmNonce + kGcmTag) return TooShort();
    const std::string_view sealed = stored.substr(kGcmNonce, stored.size() - kGcmNonce - kGcmTag);
    std::string tag(stored.substr(stored.size() - kGcmTag));
    Opened opened;
    opened.plain.resize(sealed.size());
    const CipherContext ctx = NewContext();
    int length = 0;
    const bool done = EVP_DecryptInit_ex(ctx.get(), Kind(), nullptr, Bytes(key_), Bytes(stored)) == 1 &&
                      EVP_DecryptUpdate(ctx.get(), nullptr, &length, Bytes(key), static_cast<int>(key.size())) == 1 &&
                      EVP_DecryptUpdate(ctx.get(), Bytes(opened.plain), &length, Bytes(sealed),
                                        static_cast<int>(sealed.size())) == 1 &&
                      EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_SET_TAG, kGcmTag, tag.data()) == 1 &&
                      EVP_DecryptFinal_ex(ctx.get(), Bytes(opened.plain, sealed.size()), &length) == 1;
    if (!done) return Fail("cipher: message authentication failed");
    return opened;
  }

 private:
  const EVP_CIPHER* Kind() const {
    return key_.size() == 16 ? EVP_aes_128_gcm() : key_.size() == 24 ? EVP_aes_192_gcm() : EVP_aes_256_gcm();
  }
  const SecretBytes key_;
};

class Cbc final : public LocalTransformer {
 public:
  explicit Cbc(std::string key) : key_(std::move(key)) {}

  Result<std::string> Seal(std::string_view plain, std::string_view) const override {
    std::string out = RandomBytes(kBlock);
    out.resize(kBlock + plain.size() + kBlock);
    const CipherContext ctx = NewContext();
    int length = 0, rest = 0;
    const bool done =
        EVP_EncryptInit_ex(ctx.get(), Kind(), nullptr, Bytes(key_), Bytes(out)) == 1 &&
        EVP_EncryptUpdate(ctx.get(), Bytes(out, kBlock), &length, Bytes(plain), static_cast<int>(plain.size())) == 1 &&
        EVP_EncryptFinal_ex(ctx.get(), Bytes(out, kBlock + length), &rest) == 1;
    if (!done) return Fail("AES-CBC failed");
    out.resize(kBlock + length + rest);
    return out;
  }

  Result<Opened> Open(std::string_view stored, std::string_view) const override {
    if (stored.size() < kBlock) return TooShort();
    const std::string_view sealed = stored.substr(kBlock);
    if (sealed.size() % kBlock != 0) return Fail("the stored data is not a multiple of the block size");
    if (sealed.empty()) return Fail("invalid PKCS7 data (empty or not padded)");
    Opened opened;
    opened.plain.resize(sealed.size() + kBlock);
    const CipherContext ctx = NewContext();
    int length = 0, rest = 0;
    const bool done = EVP_DecryptInit_ex(ctx.get(), Kind(), nullptr, Bytes(key_), Bytes(stored)) == 1 &&
                      EVP_DecryptUpdate(ctx.get(), Bytes(opened.plain), &length, Bytes(sealed),
                                        static_cast<int>(sealed.size())) == 1 &&
                      EVP_DecryptFinal_ex(ctx.get(), Bytes(opened.plain, length), &rest) == 1;
    if (!done) return Fail("invalid padding on input");
    opened.plain.resize(length + rest);
    return opened;
  }

 private:
  const EVP_CIPHER* Kind() const {
    return key_.size() == 16 ? EVP_aes_128_cbc() : key_.size() == 24 ? EVP_aes_192_cbc() : EVP_aes_256_cbc();
  }
  const SecretBytes key_;
};

class Box final : public LocalTransformer {
 public:
  explicit Box(std::string key) : key_(std::move(key)) {
    if (::sodium_init() < 0) throw std::runtime_error("libsodium can't start");
  }

  Result<std::string> Seal(std::string_view plain, std::string_view) const override {
    std::string out = RandomBytes(crypto_secretbox_NONCEBYTES);
    const std::string nonce = out;
    out.resize(nonce.size() + crypto_secretbox_MACBYTES + plain.size());
    crypto_secretbox_easy(Bytes(out, nonce.size()), Bytes(plain), plain.size(), Bytes(nonce), Bytes(key_));
    return out;
  }

  Result<Opened> Open(std::string_view stored, std::string_view) const override {
    if (stored.size() < crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES) return TooShort();
    const std::string_view sealed = stored.substr(crypto_secretbox_NONCEBYTES);
    Opened opened;
    opened.plain.resize(sealed.size() - crypto_secretbox_MACBYTES);
    if (crypto_secretbox_open_easy(Bytes(opened.plain), Bytes(sealed), sealed.size(), Bytes(stored), Bytes(key_)) !=
        0) {
      return Fail("message authentication failed");
    }
    return opened;
  }

 private:
  const SecretBytes key_;
};

class SeededGcm final : public LocalTransformer {
 public:
  explicit SeededGcm(std::string seed) : seed_(std::move(seed)) {}

  Result<std::string> Seal(std::string_view plain, std::string_view key) const override {
    std::string out = RandomBytes(kInfo);
    ASSIGN_OR_RETURN(const std::string sealed, Gcm(Derived(out)).Seal(plain, key));
    return out + sealed;
  }
  Result<Opened> Open(std::string_view stored, std::string_view key) const override {
    if (stored.size() < kInfo) return TooShort();
    return Gcm(Derived(stored.substr(0, kInfo))).Open(stored.substr(kInfo), key);
  }

 private:
  /// HKDF-Expand for 32 bytes is one HMAC over info and the byte 1. That is so cheap that derived keys are not cached.
  std::string Derived(std::string_view info) const {
    const std::string message = std::string(info) + '\1';
    std::string key(32, '\0');
    unsigned length = 0;
    HMAC(EVP_sha256(), seed_.View().data(), static_cast<int>(seed_.size()), Bytes(message), message.size(), Bytes(key),
         &length);
    return key;
  }
  const SecretBytes seed_;
};

class Plain final : public LocalTransformer {
 public:
  Result<std::string> Seal(std::string_view plain, std::string_view) const override { return std::string(plain); }
  Result<Opened> Open(std::string_view stored, std::string_view) const override {
    if (stored.starts_with("k8s:enc:")) return Fail("identity transformer tried to read encrypted data");
    return Opened{std::string(stored)};
  }
};

}  // namespace

void throw_exception_from_error(const Failure& failure, const boost::source_location&) {
  throw std::logic_error("a failure was taken for a value: " + failure.message);
}

std::string RandomBytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(Bytes(bytes), static_cast<int>(count)) != 1) throw std::runtime_error("no random bytes");
  return bytes;
}

TransformerPtr AesGcm(std::string key) { return std::make_shared<Gcm>(std::move(key)); }
TransformerPtr AesCbc(std::string key) { return std::make_shared<Cbc>(std::move(key)); }
TransformerPtr Secretbox(std::string key) { return std::make_shared<Box>(std::move(key)); }
TransformerPtr SeededAesGcm(std::string seed) { return std::make_shared<SeededGcm>(std::move(seed)); }
TransformerPtr Identity() {
  static const TransformerPtr identity = std::make_shared<Plain>();
  return identity;
}

}  // namespace apimesh::encryption
