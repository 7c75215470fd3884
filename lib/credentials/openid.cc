#include "lib/credentials/openid.h"

#include <set>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace apimesh::credentials {

meta::Result<OpenIdMetadata> MakeOpenIdMetadata(std::string_view issuer, std::string_view jwks_uri,
                                                std::string_view external_address,
                                                const std::vector<PublishedKey>& keys) {
  if (issuer.empty()) return meta::InternalError("empty issuer URL");
  if (!issuer.starts_with("https://")) {
    return meta::InternalError(fmt::format("issuer URL must use https scheme, got: {}", issuer));
  }
  if (issuer.find('#') != issuer.npos) {
    return meta::InternalError(fmt::format("issuer URL may not include a fragment, got: {}", issuer));
  }
  if (issuer.find('?') != issuer.npos) {
    return meta::InternalError(fmt::format("issuer URL may not include a query, got: {}", issuer));
  }
  std::string uri(jwks_uri);
  if (uri.empty()) {
    if (external_address.empty()) {
      return meta::InternalError("either the JWKS URI or the default external address, or both, must be set");
    }
    uri = fmt::format("https://{}/openid/v1/jwks", external_address);
  } else if (!uri.starts_with("https://")) {
    return meta::InternalError(fmt::format("jwksURI requires https scheme, parsed as: {}", uri));
  }
  if (keys.empty()) return meta::InternalError("no keys provided for validating keyset");

  boost::json::array jwks;
  std::set<std::string_view> algorithms;
  for (const auto& [id, key] : keys) {
    jwks.emplace_back(key.ToJwk(id));
    algorithms.insert(AlgorithmName(key.DefaultAlgorithm()));
  }
  boost::json::object configuration;
  configuration["issuer"] = std::string(issuer);
  configuration["jwks_uri"] = uri;
  configuration["response_types_supported"] = {"id_token"};
  configuration["subject_types_supported"] = {"public"};
  boost::json::array& supported = configuration["id_token_signing_alg_values_supported"].emplace_array();
  for (const std::string_view name : algorithms) supported.emplace_back(std::string(name));
  boost::json::object key_set;
  key_set["keys"] = std::move(jwks);
  return OpenIdMetadata{boost::json::serialize(configuration), boost::json::serialize(key_set)};
}

}  // namespace apimesh::credentials
