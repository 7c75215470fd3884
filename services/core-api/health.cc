#include "services/core-api/health.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <mutex>

#include "lib/base/wakeup.h"

namespace apimesh::core_api {
namespace {

constexpr std::chrono::seconds kInterval{2}, kTimeout{2};
constexpr std::chrono::milliseconds kUntilFirst{20};

/// What etcd last said.
struct EtcdProbe {
  std::mutex mutex;
  bool stopped = false;                                                // guarded by mutex
  std::shared_ptr<Wakeup> sleep = Wakeup::New();                       // guarded by mutex; one for each sleep
  std::string problem = "etcd client connection not yet established";  // guarded by mutex

  std::string Problem() {
    const std::lock_guard lock(mutex);
    return problem;
  }
};

Task<> Probe(std::shared_ptr<EtcdProbe> probe, std::shared_ptr<etcd::Client> client) {
  for (;;) {
    etcd::RangeOptions options;
    options.keys_only = true;
    options.deadline = std::chrono::steady_clock::now() + kTimeout;
    const auto answer = co_await client->Range("health", std::move(options));
    std::shared_ptr<Wakeup> sleep = Wakeup::New();
    {
      const std::lock_guard lock(probe->mutex);
      if (probe->stopped) co_return;
      probe->problem = answer ? "" : "etcd failed: " + answer.error().message;
      probe->sleep = sleep;
    }
    const Duration pause = answer ? Duration(kInterval) : Duration(kUntilFirst);
    co_await Wakeup::Wait(sleep, std::chrono::steady_clock::now() + pause);
  }
}

}  // namespace

void AddEtcdChecks(service::Runtime& runtime, std::shared_ptr<etcd::Client> client) {
  const auto probe = std::make_shared<EtcdProbe>();
  const auto check = [probe] { return probe->Problem(); };
  runtime.Health().Add("etcd", check);
  runtime.Health().Add("etcd-readiness", check, service::HealthChecks::kReadyz);
  boost::asio::co_spawn(runtime.Executor(), Probe(probe, std::move(client)), boost::asio::detached);
  runtime.OnStop([probe] {
    const std::lock_guard lock(probe->mutex);
    probe->stopped = true;
    probe->sleep->Wake();
  });
}

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
