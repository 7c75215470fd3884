#include "services/core-api/auth/openid_paths.h"

#include <mutex>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/credentials/openid.h"

namespace apimesh::core_api {
namespace {

using credentials::OpenIdMetadata;

constexpr std::int64_t kCacheSeconds = 3600;  // of keys in files, which never change while the server runs

std::vector<credentials::PublishedKey> ReadKeys(const Flags& flags) {
  std::vector<std::string> files = flags.service_account_key_file;
  if (files.empty() && !flags.service_account_signing_key_file.empty())
    files = {flags.service_account_signing_key_file};
  std::vector<credentials::PublishedKey> keys;
  for (const std::string& path : files) {
    const std::string pem = ReadFile(path).value_or("");
    const meta::Result<std::vector<credentials::PublicKey>> found = credentials::PublicKey::FromPem(pem);
    if (!found)
      throw std::runtime_error(fmt::format("--service-account-key-file {}: {}", path, found.error().Message()));
    for (const credentials::PublicKey& key : *found) keys.push_back({key.KeyId(), key});
  }
  return keys;
}

std::vector<credentials::PublishedKey> PublishedKeys(const externaljwt::KeySet& set) {
  std::vector<credentials::PublishedKey> keys;
  for (const externaljwt::Key& key : set.keys) {
    if (key.published) keys.push_back({key.id, key.key});
  }
  return keys;
}

/// The two documents, which are made again when the keys change. Thread-safe.
class Documents {
 public:
  Documents(const Flags& flags, std::string external_address, std::shared_ptr<externaljwt::Signer> signer)
      : issuer_(flags.service_account_issuer[0]),
        uri_(flags.service_account_jwks_uri),
        address_(std::move(external_address)),
        signer_(std::move(signer)) {}

  /// If the keys cannot be published, the documents stay as they are.
  meta::Result<> Update(const std::vector<credentials::PublishedKey>& keys) {
    ASSIGN_OR_RETURN(OpenIdMetadata made, credentials::MakeOpenIdMetadata(issuer_, uri_, address_, keys));
    const std::lock_guard lock(mutex_);
    configuration_ = SharedBytes(std::move(made.configuration));
    key_set_ = SharedBytes(std::move(made.key_set));
    return meta::Result<>();
  }

  mesh::Response Send(bool key_set) const {
    mesh::Response response;
    const std::int64_t seconds = signer_ ? signer_->Keys().SecondsToRefresh() : kCacheSeconds;
    response.headers.emplace_back("content-type", key_set ? "application/jwk-set+json" : "application/json");
    response.headers.emplace_back("cache-control", fmt::format("public, max-age={}", seconds));
    const std::lock_guard lock(mutex_);
    response.body.push_back(key_set ? key_set_ : configuration_);
    return response;
  }

 private:
  const std::string issuer_, uri_, address_;
  const std::shared_ptr<externaljwt::Signer> signer_;
  mutable std::mutex mutex_;
  SharedBytes configuration_, key_set_;  // guarded by mutex_
};

Task<mesh::Response> Send(std::shared_ptr<const Documents> documents, bool key_set) {
  co_return documents->Send(key_set);
}

void Follow(const std::shared_ptr<Documents>& documents, externaljwt::KeyCache& cache) {
  // The cache belongs to the signer, which the documents own.
  const auto update = [weak = std::weak_ptr<Documents>(documents), &cache] {
    const std::shared_ptr<Documents> living = weak.lock();
    if (!living) return;
    const meta::Result<> updated = living->Update(PublishedKeys(*cache.Now()));
    if (!updated) log::Error("the OpenID metadata stays as it is: {}", updated.error().Message());
  };
  cache.OnChange(update);
}

}  // namespace

void AddOpenIdPaths(const Flags& flags, std::string external_address,
                    const std::shared_ptr<externaljwt::Signer>& signer, endpoint::GroupServerOptions& options) {
  if (flags.service_account_issuer.empty()) return;
  const auto documents = std::make_shared<Documents>(flags, std::move(external_address), signer);
  const meta::Result<> made = documents->Update(signer ? PublishedKeys(*signer->Keys().Now()) : ReadKeys(flags));
  if (!made) {
    log::Warning("no OpenID metadata: {}", made.error().Message());
    return;
  }
  if (signer) Follow(documents, signer->Keys());
  const auto add = [&](std::string path, bool key_set) {
    options.paths[path] = [documents, key_set](mesh::Request) { return Send(documents, key_set); };
    options.advertised_paths.push_back(std::move(path));
  };
  add("/.well-known/openid-configuration", false);
  add("/openid/v1/jwks", true);
}

}  // namespace apimesh::core_api
