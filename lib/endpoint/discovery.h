#pragma once

#include <string>
#include <vector>

#include "lib/endpoint/served_resource.h"

/// Discovery documents of one group-version, in compact JSON with the keys and the order of kube-apiserver.
namespace apimesh::endpoint {

/// Returns the APIResourceList of a group-version, with or without hashes of storage versions.
std::string ResourceListJson(const meta::GroupVersion& version, const std::vector<ServedResourcePtr>& resources,
                             bool storage_version_hash);
/// Returns one element of APIGroupDiscovery.versions (aggregated discovery).
std::string VersionDiscoveryJson(const meta::GroupVersion& version, const std::vector<ServedResourcePtr>& resources);

/// Returns the Base64 encoding of the first 8 bytes of the SHA-256 of "group/version/kind".
std::string StorageVersionHash(const meta::Gvk& storage);

}  // namespace apimesh::endpoint
