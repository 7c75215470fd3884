#include "lib/service/stores/stores.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "lib/encryption/encryption.h"
#include "lib/service/stores/overrides.h"
#include "lib/service/stores/store_metrics.h"

namespace apimesh::service {
namespace {

/// Uses one backend for most resources and other backends for some.
class RoutedBackend final : public storage::Backend {
 public:
  explicit RoutedBackend(std::shared_ptr<storage::Backend> usual) : usual_(std::move(usual)) {}

  /// Must be called before the first Open().
  void Add(const meta::GroupResource& resource, std::shared_ptr<storage::Backend> backend) {
    by_resource_[resource] = std::move(backend);
  }

  storage::StorePtr Open(storage::ResourceConfig config) override {
    const auto found = by_resource_.find(config.StoredAs());
    return (found == by_resource_.end() ? usual_ : found->second)->Open(std::move(config));
  }
  std::vector<storage::ResourceStats> Stats() const override {
    std::vector<storage::ResourceStats> stats = usual_->Stats();
    std::set<storage::Backend*> seen;  // a backend may serve several resources
    for (const auto& [resource, backend] : by_resource_) {
      if (!seen.insert(backend.get()).second) continue;
      const std::vector<storage::ResourceStats> more = backend->Stats();
      stats.insert(stats.end(), more.begin(), more.end());
    }
    return stats;
  }
  void Stop() override {
    usual_->Stop();
    for (const auto& [resource, backend] : by_resource_) backend->Stop();
  }

 private:
  const std::shared_ptr<storage::Backend> usual_;
  std::map<meta::GroupResource, std::shared_ptr<storage::Backend>> by_resource_;
};

std::shared_ptr<etcd::Client> NewClient(const service::EtcdFlags& flags, std::vector<std::string> servers,
                                        service::Runtime& runtime) {
  etcd::ClientOptions options{.clock = runtime.GetClock()};
  options.endpoints = std::move(servers);
  options.ca_file = flags.ca_file;
  options.cert_file = flags.cert_file;
  options.key_file = flags.key_file;
  options.executor = runtime.Executor();
  return etcd::NewClient(std::move(options));
}

std::shared_ptr<encryption::Encryption> Encrypt(const service::EtcdFlags& flags, service::Runtime& runtime) {
  if (flags.encryption_provider_config.empty()) {
    if (!flags.encryption_provider_config_automatic_reload) return nullptr;
    throw std::invalid_argument(
        "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config");
  }
  encryption::Options options{.clock = runtime.GetClock()};
  options.file = flags.encryption_provider_config;
  options.reload = flags.encryption_provider_config_automatic_reload;
  const bool reload = options.reload;
  const auto opened = encryption::Encryption::Start(std::move(options), runtime.Executor());
  if (!opened) throw std::invalid_argument("--encryption-provider-config: " + opened.error().message);
  // Not on /livez, because a restart would not repair a key service.
  constexpr unsigned kNotLivez = service::HealthChecks::kHealthz | service::HealthChecks::kReadyz;
  if ((*opened)->HasHealthCheck()) {
    runtime.Health().Add("kms-providers", [encryption = *opened] { return encryption->Problem(); }, kNotLivez);
  }
  if (reload) runtime.Health().AddPostStartHook("start-encryption-provider-config-automatic-reload")();
  runtime.OnStop([encryption = *opened] { encryption->Stop(); });
  return *opened;
}

}  // namespace

Stores OpenStores(const service::EtcdFlags& flags, service::Runtime& runtime) {
  const std::vector<Override> overrides = ParseOverrides(flags.servers_overrides);
  storage::BackendOptions options{.clock = runtime.GetClock()};
  options.prefix = flags.prefix;
  options.compaction_interval = flags.compaction_interval;
  options.lease_reuse = std::chrono::seconds(flags.lease_reuse_seconds);
  options.encryption = Encrypt(flags, runtime);
  options.observer = ObserveRequests(runtime.GetMetrics());

  Stores stores;
  stores.client = NewClient(flags, flags.servers, runtime);
  const auto routed = std::make_shared<RoutedBackend>(storage::NewBackend(stores.client, runtime.Executor(), options));
  std::map<std::vector<std::string>, std::shared_ptr<storage::Backend>> by_servers;  // sorted, so that the order of the
                                                                                     // servers does not matter
  for (const Override& override : overrides) {
    std::vector<std::string> servers = override.servers;
    std::sort(servers.begin(), servers.end());
    std::shared_ptr<storage::Backend>& backend = by_servers[servers];
    if (!backend) {
      stores.overridden.push_back(NewClient(flags, override.servers, runtime));
      backend = storage::NewBackend(stores.overridden.back(), runtime.Executor(), options);
    }
    routed->Add(override.resource, backend);
  }
  stores.backend = routed;
  runtime.GetMetrics().AddSource([weak = std::weak_ptr(routed)] {
    const auto backend = weak.lock();
    return DescribeStores(backend ? backend->Stats() : std::vector<storage::ResourceStats>());
  });
  runtime.OnStop([routed] { routed->Stop(); });
  return stores;
}

}  // namespace apimesh::service
