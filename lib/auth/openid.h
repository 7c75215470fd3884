#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/auth/key.h"

namespace apimesh::auth {

/// What the service-account issuer publishes, both as finished JSON.
struct OpenIdMetadata {
  std::string configuration;  // of /.well-known/openid-configuration, application/json
  std::string key_set;        // of /openid/v1/jwks, application/jwk-set+json
  static constexpr std::string_view kCacheControl = "public, max-age=3600";
};
/// `jwks_uri` may be empty: then it is https://`external_address`/openid/v1/jwks. An error, with the reference's text, if
/// the issuer is not a plain https URL: the reference then serves neither document.
meta::Result<OpenIdMetadata> MakeOpenIdMetadata(std::string_view issuer, std::string_view jwks_uri,
                                                std::string_view external_address, const std::vector<PublicKey>& keys);

}  // namespace apimesh::auth
