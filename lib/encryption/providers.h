#pragma once

#include <map>
#include <vector>

#include "lib/encryption/config.h"
#include "lib/encryption/kms.h"

namespace apimesh::encryption {

/// The providers of one configuration file.
struct Providers {
  std::map<ResourceName, TransformerPtr> by_resource;
  std::vector<std::shared_ptr<Kms>> kms;

  /// Looks up the resource, then "*.group", then "*.*". Resources without a rule are stored in plain text.
  TransformerPtr For(const ResourceName& name) const;
};

using KmsFactory = std::function<std::shared_ptr<KmsService>(const KmsConfig& config, const Clock& clock)>;
/// `config` must have been validated.
Result<Providers> MakeProviders(const Config& config, const Clock& clock, const KmsFactory& connect = NewKmsService);

/// A prefix and the transformer of the bytes after it. The first one writes. Any one whose prefix matches may read;
/// values of later ones are stale.
struct Prefixed {
  std::string prefix;
  TransformerPtr transformer;
};
TransformerPtr FirstWritesAllRead(std::vector<Prefixed> choices, std::string nothing_fits);

}  // namespace apimesh::encryption
