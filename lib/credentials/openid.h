#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/credentials/key.h"

namespace apimesh::credentials {

/// The documents that the service-account issuer publishes, as serialized JSON.
struct OpenIdMetadata {
  std::string configuration;  // for /.well-known/openid-configuration, application/json
  std::string key_set;        // for /openid/v1/jwks, application/jwk-set+json
};
/// A key and its id in the key set.
struct PublishedKey {
  std::string id;
  PublicKey key;
};
/// If `jwks_uri` is empty, it is https://`external_address`/openid/v1/jwks. Returns an error with kube-apiserver's
/// message if the issuer or `jwks_uri` is not a valid https URL or if there is no key; kube-apiserver then serves
/// neither document.
meta::Result<OpenIdMetadata> MakeOpenIdMetadata(std::string_view issuer, std::string_view jwks_uri,
                                                std::string_view external_address,
                                                const std::vector<PublishedKey>& keys);

}  // namespace apimesh::credentials
