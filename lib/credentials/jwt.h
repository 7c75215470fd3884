#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "lib/base/clock.h"
#include "lib/credentials/key.h"

namespace apimesh::credentials {

/// Longer tokens are rejected. The largest real tokens (OIDC with many groups) have about 10 KB.
constexpr std::size_t kMaxTokenBytes = 128 * 1024;

/// A parsed compact JWT. Its content must not be trusted before Verify() returns true.
class Jwt {
 public:
  /// Returns nullopt if the token is not a JWT, or has a missing or unknown `alg`, or the header parameters `crit` or
  /// `b64`.
  static std::optional<Jwt> Parse(std::string_view token);

  Algorithm GetAlgorithm() const { return algorithm_; }
  const std::string& KeyId() const { return key_id_; }  // "" if the header has none
  const boost::json::object& Claims() const { return claims_; }
  bool Verify(const PublicKey& key) const { return key.Verify(algorithm_, signing_input_, signature_); }

  // Registered claims. Absent claims, and claims of the wrong type, are "".
  std::string_view Issuer() const;
  std::string_view Subject() const;
  std::string_view Id() const;
  /// Returns the audiences. A single string is a list with one element, an absent claim is an empty list. Returns
  /// nullopt if the claim has another type.
  std::optional<std::vector<std::string>> Audiences() const;

 private:
  Algorithm algorithm_{};
  std::string key_id_;
  std::string signing_input_;
  std::string signature_;
  boost::json::object claims_;
};

/// The result of checking exp, nbf and iat against the clock, with a leeway of one minute.
enum class TimeCheck { kValid, kExpired, kNotYetValid, kIssuedInTheFuture, kMalformed };
TimeCheck CheckTimes(const Jwt& token, WallTime now);

/// Signs `claims` unchanged. The header contains the algorithm and the id of the key.
std::string SignJwt(const PrivateKey& key, const boost::json::object& claims);

}  // namespace apimesh::credentials
