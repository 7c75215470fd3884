#include "lib/service/stores/etcd_health.h"

#include <mutex>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

#include "lib/base/async/wakeup.h"

namespace apimesh::service {
namespace {

constexpr std::chrono::seconds kInterval{2}, kTimeout{2}, kSizeInterval{30};
constexpr std::chrono::milliseconds kUntilFirst{20};

/// The result of the last probe of etcd.
struct EtcdProbe {
  std::mutex mutex;
  bool stopped = false;                                                // guarded by mutex
  std::shared_ptr<Wakeup> sleep = Wakeup::New();                       // guarded by mutex; one per sleep
  std::string problem = "etcd client connection not yet established";  // guarded by mutex

  std::string Problem() {
    const std::lock_guard lock(mutex);
    return problem;
  }
};

Task<> Probe(std::shared_ptr<EtcdProbe> probe, std::shared_ptr<etcd::Client> client, service::Gauge database_bytes,
             const Clock& clock) {
  SteadyTime next_size = clock.Steady();
  for (;;) {
    etcd::RangeOptions options;
    options.keys_only = true;
    options.deadline = clock.Steady() + kTimeout;
    const auto answer = co_await client->Range("health", std::move(options));
    std::shared_ptr<Wakeup> sleep = Wakeup::New();
    {
      const std::lock_guard lock(probe->mutex);
      if (probe->stopped) co_return;
      probe->problem = answer ? "" : "etcd failed: " + answer.error().message;
      probe->sleep = sleep;
    }
    if (const SteadyTime now = clock.Steady(); answer && now >= next_size) {
      next_size = now + kSizeInterval;
      const auto status = co_await client->GetStatus(now + kTimeout);
      if (status) database_bytes.Set(static_cast<double>(status->db_size));
    }
    const Duration pause = answer ? Duration(kInterval) : Duration(kUntilFirst);
    co_await Wakeup::WaitFor(sleep, pause);
  }
}

void AddChecks(service::Runtime& runtime, std::shared_ptr<etcd::Client> client, const std::string& name,
               const std::string& readiness_name, const std::string& cluster) {
  const auto probe = std::make_shared<EtcdProbe>();
  const auto check = [probe] { return probe->Problem(); };
  const service::Gauge database_bytes = runtime.GetMetrics().GetGauge(
      "apiserver_storage_size_bytes", "Size of the file of the store in bytes.", {{"storage_cluster_id", cluster}});
  runtime.Health().Add(name, check);
  runtime.Health().Add(readiness_name, check, service::HealthChecks::kReadyz);
  boost::asio::co_spawn(runtime.Executor(), Probe(probe, std::move(client), database_bytes, runtime.GetClock()),
                        boost::asio::detached);
  runtime.OnStop([probe] {
    const std::lock_guard lock(probe->mutex);
    probe->stopped = true;
    probe->sleep->Wake();
  });
}

}  // namespace

void AddEtcdChecks(service::Runtime& runtime, const Stores& stores) {
  AddChecks(runtime, stores.client, "etcd", "etcd-readiness", "etcd-0");
  for (std::size_t i = 0; i < stores.overridden.size(); ++i) {
    AddChecks(runtime, stores.overridden[i], fmt::format("etcd-override-{}", i),
              fmt::format("etcd-override-readiness-{}", i), fmt::format("etcd-{}", i + 1));
  }
}

}  // namespace apimesh::service
