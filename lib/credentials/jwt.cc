#include "lib/credentials/jwt.h"

#include <cmath>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "lib/base/text/base64.h"
#include "lib/meta/object.h"

namespace apimesh::credentials {
namespace {

std::optional<boost::json::object> ParseObject(std::string_view encoded) {
  const std::optional<std::string> text = DecodeBase64Url(encoded);
  if (!text) return std::nullopt;
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(*text, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

// Returns 0 if the claim is absent, as in kube-apiserver, and nullopt if it is not a valid number.
std::optional<double> NumericDate(const boost::json::object& claims, std::string_view name) {
  const boost::json::value* value = meta::FindField(claims, name);
  if (!value || value->is_null()) return 0;
  if (!value->is_number()) return std::nullopt;
  const double seconds = value->to_number<double>();
  // Larger values are not realistic times, and the conversion to a time point would overflow.
  if (!std::isfinite(seconds) || std::abs(seconds) > 9e9) return std::nullopt;
  return seconds;
}

}  // namespace

std::optional<Jwt> Jwt::Parse(std::string_view token) {
  if (token.size() > kMaxTokenBytes) return std::nullopt;
  const std::size_t first = token.find('.');
  const std::size_t second = first == token.npos ? token.npos : token.find('.', first + 1);
  if (second == token.npos || token.find('.', second + 1) != token.npos) return std::nullopt;

  const std::optional<boost::json::object> header = ParseObject(token.substr(0, first));
  if (!header || meta::FindField(*header, "crit") || meta::FindField(*header, "b64")) return std::nullopt;
  const std::optional<Algorithm> algorithm = ParseAlgorithm(meta::FindString(*header, "alg"));
  if (!algorithm) return std::nullopt;
  std::optional<boost::json::object> claims = ParseObject(token.substr(first + 1, second - first - 1));
  std::optional<std::string> signature = DecodeBase64Url(token.substr(second + 1));
  if (!claims || !signature || signature->empty()) return std::nullopt;

  Jwt jwt;
  jwt.algorithm_ = *algorithm;
  jwt.key_id_ = meta::FindString(*header, "kid");
  jwt.signing_input_ = token.substr(0, second);
  jwt.signature_ = std::move(*signature);
  jwt.claims_ = std::move(*claims);
  return jwt;
}

std::string_view Jwt::Issuer() const { return meta::FindString(claims_, "iss"); }
std::string_view Jwt::Subject() const { return meta::FindString(claims_, "sub"); }
std::string_view Jwt::Id() const { return meta::FindString(claims_, "jti"); }

std::optional<std::vector<std::string>> Jwt::Audiences() const {
  std::vector<std::string> audiences;
  const boost::json::value* value = meta::FindField(claims_, "aud");
  if (!value || value->is_null()) return audiences;
  if (value->is_string()) return std::vector<std::string>{std::string(value->get_string())};
  if (!value->is_array()) return std::nullopt;
  for (const boost::json::value& audience : value->get_array()) {
    if (!audience.is_string()) return std::nullopt;
    audiences.emplace_back(audience.get_string());
  }
  return audiences;
}

TimeCheck CheckTimes(const Jwt& token, WallTime now) {
  constexpr double kLeeway = 60;
  const double seconds = std::chrono::duration<double>(now.time_since_epoch()).count();
  const auto not_before = NumericDate(token.Claims(), "nbf");
  const auto expiry = NumericDate(token.Claims(), "exp");
  const auto issued_at = NumericDate(token.Claims(), "iat");
  if (!not_before || !expiry || !issued_at) return TimeCheck::kMalformed;
  if (*not_before != 0 && seconds + kLeeway < *not_before) return TimeCheck::kNotYetValid;
  if (*expiry != 0 && seconds - kLeeway > *expiry) return TimeCheck::kExpired;
  if (*issued_at != 0 && seconds + kLeeway < *issued_at) return TimeCheck::kIssuedInTheFuture;
  return TimeCheck::kValid;
}

std::string SignJwt(const PrivateKey& key, const boost::json::object& claims) {
  boost::json::object header;
  const std::string_view name = AlgorithmName(key.Public().DefaultAlgorithm());
  header["alg"] = boost::json::string_view(name.data(), name.size());
  header["kid"] = key.Public().KeyId();
  const std::string input =
      EncodeBase64Url(boost::json::serialize(header)) + "." + EncodeBase64Url(boost::json::serialize(claims));
  return input + "." + EncodeBase64Url(key.Sign(input));
}

}  // namespace apimesh::credentials
