#pragma once

#include <boost/json/object.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/api_error.h"

namespace apimesh::auth {

/// JWS algorithms (RFC 7518). "none" and the HMAC family are not here on purpose: there is nothing to compare with.
enum class Algorithm { kRs256, kRs384, kRs512, kPs256, kPs384, kPs512, kEs256, kEs384, kEs512 };

/// nullopt for anything that is not one of the above.
std::optional<Algorithm> ParseAlgorithm(std::string_view name);
std::string_view AlgorithmName(Algorithm algorithm);

/// An RSA or ECDSA (P-256, P-384, P-521) public key. Cheap to copy; thread-safe.
class PublicKey {
 public:
  /// All public keys of a PEM text: PUBLIC KEY, RSA PUBLIC KEY, CERTIFICATE, and the public half of private keys.
  /// An error if there is none.
  static meta::Result<std::vector<PublicKey>> FromPem(std::string_view pem);
  /// A JSON Web Key of kty RSA or EC.
  static meta::Result<PublicKey> FromJwk(const boost::json::object& jwk);

  /// base64url(SHA-256(DER of the SubjectPublicKeyInfo)): the `kid` of the reference's tokens.
  const std::string& KeyId() const;
  /// What this key's owner signs with: RS256 for RSA, ESxxx by curve.
  Algorithm DefaultAlgorithm() const;
  /// False as well if `algorithm` does not fit this kind of key.
  bool Verify(Algorithm algorithm, std::string_view data, std::string_view signature) const;
  /// {"use":"sig","kty":…,"kid":…,…} in the reference's key order.
  boost::json::object ToJwk() const;

 private:
  friend class PrivateKey;
  struct State;
  std::shared_ptr<const State> state_;
};

/// A key that signs. Cheap to copy; thread-safe.
class PrivateKey {
 public:
  /// PKCS#1, SEC1 or PKCS#8, not encrypted.
  static meta::Result<PrivateKey> FromPem(std::string_view pem);

  const PublicKey& Public() const { return public_; }
  /// The signature over `data` with the key's default algorithm, in JWS form.
  std::string Sign(std::string_view data) const;

 private:
  PublicKey public_;
};

}  // namespace apimesh::auth
