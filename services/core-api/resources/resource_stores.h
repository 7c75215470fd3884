#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/endpoint/storage_config.h"
#include "lib/meta/gvk.h"
#include "lib/registry/resource.h"
#include "lib/storage/backend.h"

namespace apimesh::core_api {

/// The stores of all built-in resources, keyed by group, version and resource. There is one store per version, because
/// the cache of a store holds the JSON of one version. Thread-safe.
///
/// Kinds and admission plugins are created before any store is opened. They get a store with Of(), which finds the
/// opened store when it is first used.
class ResourceStores : public std::enable_shared_from_this<ResourceStores> {
 public:
  explicit ResourceStores(std::shared_ptr<storage::Backend> backend,
                          endpoint::StoredFormat format = endpoint::StoredFormat::kJson)
      : backend_(std::move(backend)), format_(format) {}

  /// Registers how the stores of these resources are opened. Must be called once, before any store is used.
  void Describe(const std::vector<registry::Resource>& resources);

  /// Returns the store of a resource that was passed to Describe(). The store is opened at the first call, even if
  /// another process serves the resource (--api-groups). Returns nullptr if there is no such resource, or if it stores
  /// nothing.
  storage::StorePtr Find(const meta::Gvr& resource);

  /// Returns a store that calls Find() when it is first used. Throws std::logic_error if no built-in resource has this
  /// name, or if the resource stores nothing in etcd.
  storage::StorePtr Of(const meta::Gvr& resource);
  /// Returns a store with this configuration, which is opened when it is first used.
  storage::StorePtr Private(storage::ResourceConfig config);

 private:
  const std::shared_ptr<storage::Backend> backend_;
  const endpoint::StoredFormat format_;
  std::mutex mutex_;
  std::map<meta::Gvr, storage::ResourceConfig> configs_;  // guarded by mutex_
  std::map<meta::Gvr, storage::StorePtr> opened_;         // guarded by mutex_
};

}  // namespace apimesh::core_api
