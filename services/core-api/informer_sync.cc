#include "services/core-api/informer_sync.h"

#include "lib/base/async/wait_until.h"
#include "lib/base/log.h"

namespace apimesh::core_api {
namespace {

using Stores = std::vector<storage::StorePtr>;

/// Returns why a store is not ready; empty if all are.
std::string WhyNotReady(const Stores& stores) {
  for (const storage::StorePtr& store : stores) {
    if (const meta::Result<> ready = store->Ready(); !ready) return ready.error().Message();
  }
  return "";
}

Task<> WaitFor(std::shared_ptr<const Stores> stores) {
  return WaitUntil([stores = std::move(stores)] { return WhyNotReady(*stores).empty(); });
}

}  // namespace

void AddInformerSync(service::Runtime& runtime, const std::vector<endpoint::ServedVersion>& versions,
                     storage::StorePtr read_by_plugins, const features::FeatureGates& features,
                     std::chrono::milliseconds storage_timeout) {
  Stores served;
  for (const endpoint::ServedVersion& version : versions) {
    for (const endpoint::ServedResourcePtr& one : version.resources) {
      if (one->store) served.push_back(one->store);
    }
  }
  const auto all = std::make_shared<const Stores>(std::move(served));
  const auto plugins = std::make_shared<const Stores>(Stores{std::move(read_by_plugins)});
  runtime.PostStart("start-apiserver-admission-initializer", [plugins] { return WaitFor(plugins); });
  runtime.PostStart("generic-apiserver-start-informers", [all] { return WaitFor(all); });
  // The numbers of objects are those in the caches of the stores.
  runtime.PostStart("storage-object-count-tracker-hook", [all] { return WaitFor(all); });
  if (features.Enabled(features::kWatchCacheInitializationPostStartHook)) {
    const Clock& clock = runtime.GetClock();
    const SteadyTime limit = clock.Steady() + storage_timeout;
    const auto ready = [all, limit, &clock] {
      if (WhyNotReady(*all).empty()) return true;
      if (clock.Steady() < limit) return false;
      log::Warning("deadline exceeded while waiting for storage readiness: {}", WhyNotReady(*all));
      return true;
    };
    runtime.PostStart("storage-readiness", [ready] { return WaitUntil(ready); });
  }
  runtime.Health().Add("informer-sync", [all] { return WhyNotReady(*all); }, service::HealthChecks::kReadyz);
}

}  // namespace apimesh::core_api
