#pragma once

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/auth/key.h"
#include "lib/base/clock.h"

namespace apimesh::auth {

/// Longer tokens are not looked at. The largest real ones (OIDC with many groups) have some 10 KB.
constexpr std::size_t kMaxTokenBytes = 128 * 1024;

/// A token in compact form, taken apart. Nothing in it may be believed before Verify() said yes.
class Jwt {
 public:
  /// nullopt: not a JWT, or one that asks for what we refuse (no or unknown `alg`, `crit`, `b64`).
  static std::optional<Jwt> Parse(std::string_view token);

  Algorithm GetAlgorithm() const { return algorithm_; }
  const std::string& KeyId() const { return key_id_; }  // "" if the header has none
  const boost::json::object& Claims() const { return claims_; }
  bool Verify(const PublicKey& key) const { return key.Verify(algorithm_, signing_input_, signature_); }

  // Registered claims. Missing or wrongly typed ones are "" or nullopt.
  std::string_view Issuer() const;
  std::string_view Subject() const;
  std::string_view Id() const;
  /// A single string counts as a list of one. nullopt: the claim has a type it must not have.
  std::optional<std::vector<std::string>> Audiences() const;

 private:
  Algorithm algorithm_{};
  std::string key_id_;
  std::string signing_input_;
  std::string signature_;
  boost::json::object claims_;
};

/// What the clock says about exp, nbf and iat, with a minute of leeway.
enum class TimeCheck { kValid, kExpired, kNotYetValid, kIssuedInTheFuture, kMalformed };
TimeCheck CheckTimes(const Jwt& token, WallTime now);

/// Signs `claims` as they are; the header has the key's algorithm and key id.
std::string SignJwt(const PrivateKey& key, const boost::json::object& claims);

}  // namespace apimesh::auth
