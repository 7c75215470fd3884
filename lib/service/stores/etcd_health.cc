#include "lib/service/stores/etcd_health.h"

#include <algorithm>
#include <mutex>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

#include "lib/base/async/wakeup.h"

namespace apimesh::service {
namespace {

constexpr std::chrono::seconds kInterval{2}, kSizeInterval{30};
constexpr std::chrono::milliseconds kUntilFirst{20};

/// The result of the last probe of etcd.
struct EtcdProbe {
  EtcdProbe(Duration health, Duration ready) : healthcheck_timeout(health), readycheck_timeout(ready) {}

  const Duration healthcheck_timeout, readycheck_timeout;
  std::mutex mutex;
  bool stopped = false;                                                // guarded by mutex
  std::shared_ptr<Wakeup> sleep = Wakeup::New();                       // guarded by mutex; one per sleep
  std::string problem = "etcd client connection not yet established";  // guarded by mutex
  Duration taken{};                                                    // guarded by mutex; by the last good probe

  /// The problem of a check that allows the probe to take `limit`.
  std::string Problem(Duration limit) {
    const std::lock_guard lock(mutex);
    return problem.empty() && taken > limit ? "etcd failed: context deadline exceeded" : problem;
  }
};

Task<> Probe(std::shared_ptr<EtcdProbe> probe, std::shared_ptr<etcd::Client> client, service::Gauge database_bytes,
             const Clock& clock) {
  SteadyTime next_size = clock.Steady();
  for (;;) {
    etcd::RangeOptions options;
    options.keys_only = true;
    const SteadyTime begun = clock.Steady();
    options.deadline = begun + std::max(probe->healthcheck_timeout, probe->readycheck_timeout);
    const auto answer = co_await client->Range("health", std::move(options));
    std::shared_ptr<Wakeup> sleep = Wakeup::New();
    {
      const std::lock_guard lock(probe->mutex);
      if (probe->stopped) co_return;
      probe->problem = answer ? "" : "etcd failed: " + answer.error().message;
      probe->taken = clock.Steady() - begun;
      probe->sleep = sleep;
    }
    if (const SteadyTime now = clock.Steady(); answer && now >= next_size) {
      next_size = now + kSizeInterval;
      const auto status = co_await client->GetStatus(now + probe->healthcheck_timeout);
      if (status) database_bytes.Set(static_cast<double>(status->db_size));
    }
    const Duration pause = answer ? Duration(kInterval) : Duration(kUntilFirst);
    co_await Wakeup::WaitFor(sleep, pause);
  }
}

void AddChecks(service::Runtime& runtime, std::shared_ptr<etcd::Client> client, const std::string& name,
               const std::string& readiness_name, const std::string& cluster, const service::EtcdCheckFlags& flags) {
  const auto probe = std::make_shared<EtcdProbe>(flags.healthcheck_timeout, flags.readycheck_timeout);
  const service::Gauge database_bytes = runtime.GetMetrics().GetGauge(
      "apiserver_storage_size_bytes", "Size of the file of the store in bytes.", {{"storage_cluster_id", cluster}});
  runtime.Health().Add(name, [probe] { return probe->Problem(probe->healthcheck_timeout); });
  runtime.Health().Add(
      readiness_name, [probe] { return probe->Problem(probe->readycheck_timeout); }, service::HealthChecks::kReadyz);
  boost::asio::co_spawn(runtime.Executor(), Probe(probe, std::move(client), database_bytes, runtime.GetClock()),
                        boost::asio::detached);
  runtime.OnStop([probe] {
    const std::lock_guard lock(probe->mutex);
    probe->stopped = true;
    probe->sleep->Wake();
  });
}

}  // namespace

void AddEtcdChecks(service::Runtime& runtime, const Stores& stores, const EtcdCheckFlags& flags) {
  AddChecks(runtime, stores.client, "etcd", "etcd-readiness", "etcd-0", flags);
  for (std::size_t i = 0; i < stores.overridden.size(); ++i) {
    AddChecks(runtime, stores.overridden[i], fmt::format("etcd-override-{}", i),
              fmt::format("etcd-override-readiness-{}", i), fmt::format("etcd-{}", i + 1), flags);
  }
}

}  // namespace apimesh::service
