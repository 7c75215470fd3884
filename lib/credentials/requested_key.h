#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace apimesh::credentials {

/// The public key for which a client requests a certificate. Cheap to copy; thread-safe.
class RequestedKey {
 public:
  enum class Type { kEd25519, kEc, kRsa, kOther };

  /// `key` is an EVP_PKEY, or nullptr for a key of unknown type.
  explicit RequestedKey(std::shared_ptr<void> key) : key_(std::move(key)) {}
  /// Parses the DER of a SubjectPublicKeyInfo. Returns nullopt if it is none, or if it has a type or a curve that Go's
  /// x509 package cannot parse.
  static std::optional<RequestedKey> FromPkix(std::string_view der);
  /// Returns the key of a PKCS #10 request in DER, whose signature is not checked; nullopt if it cannot be parsed.
  static std::optional<RequestedKey> FromRequest(std::string_view der);

  Type GetType() const;
  /// The name of the curve of an EC key: "P-256".
  std::string Curve() const;
  /// The size of the modulus of an RSA key.
  int ModulusBits() const;
  /// Verifies a signature of `text`: Ed25519, ECDSA in ASN.1 with SHA-256, or RSA-PSS with SHA-256.
  bool HasSigned(std::string_view text, std::string_view signature) const;
  bool operator==(const RequestedKey& other) const;

 private:
  std::shared_ptr<void> key_;
};

}  // namespace apimesh::credentials
