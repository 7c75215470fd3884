#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/wipe.h"
#include "lib/encryption/transformer.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::encryption {

/// The file of --encryption-provider-config: apiserver.config.k8s.io/v1 EncryptionConfiguration.
struct NamedKey {
  std::string name, secret;  // the secret is in base64

  ~NamedKey() { Wipe(secret); }
};
struct KmsConfig {
  std::string api_version, name, endpoint;
  std::optional<std::int64_t> cache_size;
  std::chrono::milliseconds timeout{3000};
};
struct ProviderConfig {
  std::optional<std::vector<NamedKey>> aesgcm, aescbc, secretbox;
  bool identity = false;
  std::optional<KmsConfig> kms;
};
struct ResourceRule {
  std::vector<std::string> resources;  // "secrets", "deployments.apps", "*.apps", "*.", "*.*"
  std::vector<ProviderConfig> providers;
};
struct Config {
  std::vector<ResourceRule> rules;
};

/// Group and resource as the file writes them: "secrets" and "*." are in the core group.
struct ResourceName {
  std::string resource, group;
  auto operator<=>(const ResourceName&) const = default;
  static ResourceName Parse(std::string_view text);
  std::string ToString() const;
};

/// Parses YAML or JSON. Unknown and duplicate fields are errors. Does not validate.
Result<Config> ParseConfig(std::string_view text);
/// Returns the same errors as kube-apiserver, with the same texts. Secrets are never part of them.
meta::FieldErrors Validate(const Config& config, bool reload);
/// Returns "a" for one error and "[a, b]" for several.
std::string Aggregate(const std::vector<std::string>& errors);

}  // namespace apimesh::encryption
