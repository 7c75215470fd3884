#pragma once

#include <string>
#include <vector>

#include "lib/registry/resource.h"
#include "services/core-api/bootstrap/local_api.h"

namespace apimesh::core_api {

/// How this server stores a resource.
struct StoredResource {
  std::string name;  // of the StorageVersion: "core.pods", "apps.deployments"
  std::string encoding_version;
  std::vector<std::string> decodable_versions, served_versions;
};

/// Returns the stored resources among these, and those that other processes of the mesh serve. Resources that share
/// their objects (events) are one.
std::vector<StoredResource> StoredResources(const std::vector<registry::Resource>& resources);

/// Enters the versions of a server into a StorageVersion object. Returns whether it has changed.
bool SetServerVersions(const StoredResource& resource, std::string_view server, WallTime now, meta::Object& object);

/// Writes the StorageVersions of all resources for the server with this identity. Logs failures; they are written again
/// by the next call.
Task<> WriteStorageVersions(LocalApiPtr api, std::string server, std::vector<StoredResource> resources);

}  // namespace apimesh::core_api
