#include "services/core-api/auth/openid_paths.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "lib/auth/openid.h"
#include "lib/base/log.h"

namespace apimesh::core_api {
namespace {

std::vector<auth::PublicKey> ReadKeys(const Flags& flags) {
  std::vector<std::string> files = flags.service_account_key_file;
  if (files.empty() && !flags.service_account_signing_key_file.empty()) files = {flags.service_account_signing_key_file};
  std::vector<auth::PublicKey> keys;
  for (const std::string& path : files) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream pem;
    pem << file.rdbuf();
    const meta::Result<std::vector<auth::PublicKey>> found = auth::PublicKey::FromPem(pem.str());
    if (!found) throw std::runtime_error(fmt::format("--service-account-key-file {}: {}", path, found.error().Message()));
    keys.insert(keys.end(), found->begin(), found->end());
  }
  return keys;
}

Task<rpc::Response> Send(SharedBytes body, std::string content_type) {
  rpc::Response response;
  response.headers.emplace_back("content-type", std::move(content_type));
  response.headers.emplace_back("cache-control", std::string(auth::OpenIdMetadata::kCacheControl));
  response.body.push_back(std::move(body));
  co_return response;
}

}  // namespace

void AddOpenIdPaths(const Flags& flags, endpoint::GroupServerOptions& options) {
  if (flags.service_account_issuer.empty()) return;
  const std::string address = fmt::format("{}:{}", flags.advertise_address, flags.secure_port);
  const meta::Result<auth::OpenIdMetadata> metadata =
      auth::MakeOpenIdMetadata(flags.service_account_issuer[0], flags.service_account_jwks_uri, address, ReadKeys(flags));
  if (!metadata) {
    log::Warning("no OpenID metadata: {}", metadata.error().Message());
    return;
  }
  const auto add = [&options](std::string path, std::string document, std::string content_type) {
    const SharedBytes bytes(std::move(document));
    options.paths[path] = [bytes, content_type](rpc::Request) { return Send(bytes, content_type); };
    options.advertised_paths.push_back(std::move(path));
  };
  add("/.well-known/openid-configuration", metadata->configuration, "application/json");
  add("/openid/v1/jwks", metadata->key_set, "application/jwk-set+json");
}

}  // namespace apimesh::core_api
