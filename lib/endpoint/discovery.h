#pragma once

#include <string>
#include <vector>

#include "lib/endpoint/served_resource.h"

/// Discovery documents of one group-version, with the reference's keys, order and compact form.
namespace apimesh::endpoint {

/// An APIResourceList.
std::string ResourceListJson(const meta::GroupVersion& version, const std::vector<ServedResourcePtr>& resources);
/// One element of APIGroupDiscovery.versions (aggregated discovery).
std::string VersionDiscoveryJson(const meta::GroupVersion& version, const std::vector<ServedResourcePtr>& resources);

/// Base64 of the first 8 bytes of the SHA-256 of "group/version/kind".
std::string StorageVersionHash(const meta::Gvk& storage);

}  // namespace apimesh::endpoint
