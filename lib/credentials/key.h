#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "lib/meta/errors/api_error.h"

namespace apimesh::credentials {

/// JWS algorithms (RFC 7518). "none" and the HMAC family are omitted on purpose: tokens are verified only with public
/// keys.
enum class Algorithm { kRs256, kRs384, kRs512, kPs256, kPs384, kPs512, kEs256, kEs384, kEs512 };

/// Returns nullopt for any other name.
std::optional<Algorithm> ParseAlgorithm(std::string_view name);
std::string_view AlgorithmName(Algorithm algorithm);

/// An RSA or ECDSA (P-256, P-384, P-521) public key. Cheap to copy; thread-safe.
class PublicKey {
 public:
  /// Returns all public keys of a PEM text: PUBLIC KEY, RSA PUBLIC KEY, CERTIFICATE, and the public parts of private
  /// keys. Returns an error if there is none.
  static meta::Result<std::vector<PublicKey>> FromPem(std::string_view pem);
  /// Parses the DER of a SubjectPublicKeyInfo.
  static meta::Result<PublicKey> FromDer(std::string_view der);
  std::string ToDer() const;
  /// Parses a JSON Web Key with kty RSA or EC.
  static meta::Result<PublicKey> FromJwk(const boost::json::object& jwk);

  /// Returns base64url(SHA-256(DER of the SubjectPublicKeyInfo)), the `kid` in tokens of kube-apiserver.
  const std::string& KeyId() const;
  /// Returns the algorithm for signatures with this key: RS256 for RSA, ESxxx depending on the curve.
  Algorithm DefaultAlgorithm() const;
  /// Returns false if the signature is invalid or if `algorithm` does not fit the type of the key.
  bool Verify(Algorithm algorithm, std::string_view data, std::string_view signature) const;
  /// Returns {"use":"sig","kty":…,"kid":…,…} in the key order of kube-apiserver.
  boost::json::object ToJwk() const { return ToJwk(KeyId()); }
  /// The same with another key id.
  boost::json::object ToJwk(std::string_view key_id) const;

 private:
  friend class PrivateKey;
  struct State;
  std::shared_ptr<const State> state_;
};

/// A private key for signing. Cheap to copy; thread-safe.
class PrivateKey {
 public:
  /// Parses an unencrypted PKCS#1, SEC1 or PKCS#8 key.
  static meta::Result<PrivateKey> FromPem(std::string_view pem);

  const PublicKey& Public() const { return public_; }
  /// Signs `data` with the default algorithm of the key. Returns the signature in JWS format.
  std::string Sign(std::string_view data) const;

 private:
  PublicKey public_;
};

}  // namespace apimesh::credentials
