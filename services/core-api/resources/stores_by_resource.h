#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/endpoint/group_server.h"
#include "lib/storage/backend.h"

namespace apimesh::core_api {

/// The stores of all built-in resources, for admission plugins. The chain of plugins is made before the stores are
/// opened, so the stores of the served resources are added later. Thread-safe.
class StoresByResource {
 public:
  explicit StoresByResource(std::shared_ptr<storage::Backend> backend) : backend_(std::move(backend)) {}

  void Add(const std::vector<endpoint::ServedVersion>& versions);
  /// nullptr if there is no such built-in resource, or if it stores nothing. A resource with several versions has the
  /// store of the version with the highest priority. A resource that another process serves (--api-groups) gets a store
  /// of its own, with its own cache, when it is first asked for.
  storage::StorePtr Find(const meta::GroupResource& resource);

 private:
  const std::shared_ptr<storage::Backend> backend_;
  std::mutex mutex_;
  std::map<meta::GroupResource, storage::StorePtr> stores_;  // guarded by mutex_
};

}  // namespace apimesh::core_api
