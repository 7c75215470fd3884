#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/gvk.h"

namespace apimesh::object_check {

/// A built-in resource, or several with the same storage (events), as the store knows it.
struct StoredResource {
  std::string prefix;            // of its keys, below the prefix of all objects: "services/specs"
  meta::GroupResource resource;  // the name by which an encryption configuration selects it
  meta::Gvk stored_kind;         // the version in which objects are written
  bool namespaced = false;
  std::vector<std::string> versions;  // the group-versions that have it, "apps/v1"

  /// Returns whether one of the versions is served without --runtime-config.
  bool OnByDefault() const;
};

/// The built-in resources of this version of Kubernetes, sorted by prefix.
const std::vector<StoredResource>& StoredResources();

/// Returns the resource to whose objects a key belongs, or nullptr. `path` is the key without the prefix of all objects
/// and without a leading slash.
const StoredResource* FindStored(std::string_view path);

/// The contents of data/resources.tsv of core-api, embedded at build time.
std::string_view ResourceTableBytes();

}  // namespace apimesh::object_check
