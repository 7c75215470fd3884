#include "services/core-api/informer_sync.h"

namespace apimesh::core_api {

void AddInformerSync(service::HealthChecks& health, const std::vector<endpoint::ServedVersion>& versions) {
  std::vector<storage::StorePtr> stores;
  for (const endpoint::ServedVersion& version : versions) {
    for (const endpoint::ServedResourcePtr& served : version.resources) {
      if (served->store) stores.push_back(served->store);
    }
  }
  const auto synced = [stores = std::move(stores)] {
    for (const storage::StorePtr& store : stores) {
      if (const meta::Result<> ready = store->Ready(); !ready) return ready.error().Message();
    }
    return std::string();
  };
  health.Add("informer-sync", synced, service::HealthChecks::kReadyz);
}

}  // namespace apimesh::core_api
