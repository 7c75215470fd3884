#include "services/core-api/resources/stores_by_resource.h"

#include "lib/endpoint/storage_config.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/resources/table.h"

namespace apimesh::core_api {
namespace {

storage::StorePtr Open(storage::Backend& backend, const meta::GroupResource& resource) {
  for (const ResourceRow& row : ResourceTable()) {
    if (row.group != resource.group || row.resource != resource.resource || row.storage_prefix.empty()) continue;
    return backend.Open(endpoint::StorageConfig(FromTable(row.group, row.version, row.resource)));
  }
  return nullptr;
}

}  // namespace

void StoresByResource::Add(const std::vector<endpoint::ServedVersion>& versions) {
  const std::lock_guard lock(mutex_);
  for (const endpoint::ServedVersion& version : versions) {
    for (const endpoint::ServedResourcePtr& served : version.resources) {
      if (served->store) stores_.emplace(served->resource.GetGroupResource(), served->store);
    }
  }
}

storage::StorePtr StoresByResource::Find(const meta::GroupResource& resource) {
  const std::lock_guard lock(mutex_);
  const auto found = stores_.find(resource);
  if (found != stores_.end()) return found->second;
  return stores_[resource] = Open(*backend_, resource);
}

}  // namespace apimesh::core_api
