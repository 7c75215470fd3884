#pragma once

#include <map>
#include <vector>

#include "lib/encryption/config.h"
#include "lib/encryption/kms.h"

namespace apimesh::encryption {

/// What one configuration file says.
struct Providers {
  std::map<ResourceName, TransformerPtr> by_resource;
  std::vector<std::shared_ptr<Kms>> kms;

  /// By the resource, then "*.group", then "*.*"; nobody's resources stay plain.
  TransformerPtr For(const ResourceName& name) const;
};

using KmsFactory = std::function<std::shared_ptr<KmsService>(const KmsConfig& config)>;
/// `config` has been validated.
Result<Providers> MakeProviders(const Config& config, const KmsFactory& connect = NewKmsService);

/// A prefix and what comes after it. The first one writes; any one whose prefix fits may read, later ones as stale.
struct Prefixed {
  std::string prefix;
  TransformerPtr transformer;
};
TransformerPtr FirstWritesAllRead(std::vector<Prefixed> choices, std::string nothing_fits);

}  // namespace apimesh::encryption
