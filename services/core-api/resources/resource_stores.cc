#include "services/core-api/resources/resource_stores.h"

#include <algorithm>
#include <stdexcept>

#include "services/core-api/resources/deferred_store.h"
#include "services/core-api/resources/table.h"

namespace apimesh::core_api {

void ResourceStores::Describe(const std::vector<registry::Resource>& resources) {
  const std::lock_guard lock(mutex_);
  for (const registry::Resource& resource : resources) {
    if (resource.store) opened_.emplace(resource.GetGvr(), resource.store);
    if (!resource.storage_prefix.empty())
      configs_.emplace(resource.GetGvr(), endpoint::StorageConfig(resource, format_));
  }
}

storage::StorePtr ResourceStores::Find(const meta::Gvr& resource) {
  const std::lock_guard lock(mutex_);
  const auto found = opened_.find(resource);
  if (found != opened_.end()) return found->second;
  const auto config = configs_.find(resource);
  if (config == configs_.end()) return nullptr;
  return opened_[resource] = backend_->Open(config->second);
}

storage::StorePtr ResourceStores::Of(const meta::Gvr& resource) {
  const auto has = [&resource](const ResourceRow& row) {
    return meta::Gvr{row.group, row.version, row.resource} == resource && !row.storage_prefix.empty();
  };
  if (std::none_of(ResourceTable().begin(), ResourceTable().end(), has)) {
    throw std::logic_error("no built-in resource stores " + resource.GroupResource().ToString());
  }
  // A weak pointer, because a kind that keeps the store must not keep this map alive: the map holds the hooks of the
  // kind.
  const std::weak_ptr<ResourceStores> all = weak_from_this();
  return MakeDeferredStore([all, resource]() -> storage::StorePtr {
    const std::shared_ptr<ResourceStores> stores = all.lock();
    return stores ? stores->Find(resource) : nullptr;
  });
}

storage::StorePtr ResourceStores::Private(storage::ResourceConfig config) {
  const std::weak_ptr<storage::Backend> backend = backend_;
  return MakeDeferredStore([backend, config = std::move(config)]() -> storage::StorePtr {
    const std::shared_ptr<storage::Backend> opens = backend.lock();
    return opens ? opens->Open(config) : nullptr;
  });
}

}  // namespace apimesh::core_api
