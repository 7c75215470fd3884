#include "services/core-api/bootstrap/hooks.h"

#include <algorithm>
#include <sstream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/base/text/text.h"
#include "lib/features/feature_gates.h"
#include "lib/meta/uuid.h"
#include "services/core-api/bootstrap/gate.h"
#include "services/core-api/bootstrap/kubernetes_service.h"
#include "services/core-api/bootstrap/policies.h"
#include "services/core-api/bootstrap/storage_versions.h"
#include "services/core-api/bootstrap/system_objects.h"
#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/core/service/repair/address_watch.h"
#include "services/core-api/groups/core/service/repair/repair.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/leader_election/controller.h"
#include "services/core-api/validation/ip_rules.h"

namespace apimesh::core_api {
namespace {

using Work = std::function<Task<>()>;

/// Runs `work` repeatedly, with this pause before each run, until the process stops.
Task<> Repeat(LocalApiPtr api, Duration pause, Work work) {
  for (;;) {
    const bool running = co_await api->Sleep(pause);  // not in the loop's condition: GCC 12 miscompiles that
    if (!running) co_return;
    co_await work();
  }
}

/// Waits for `before`, runs `work` and opens `after`; the hook is then complete. If `pause` is not zero, `work` is
/// repeated in the background.
Task<> RunHook(LocalApiPtr api, std::shared_ptr<Gate> before, std::shared_ptr<Gate> after, Duration pause, Work work) {
  if (before) co_await Gate::Wait(before);
  co_await work();
  if (after) after->Open();
  if (pause > Duration::zero()) {
    boost::asio::co_spawn(api->Executor(), Repeat(api, pause, std::move(work)), boost::asio::detached);
  }
}

/// Checks addresses and ports of services at this interval, and addresses sooner if the last check asks for it.
Task<> RepairServices(LocalApiPtr api, std::shared_ptr<ServiceRepair> repair, Duration interval,
                      std::optional<WallTime> sooner) {
  WallTime next = api->GetClock().Now() + interval;
  for (;;) {
    const WallTime now = api->GetClock().Now();
    const Duration pause = std::min(next, sooner.value_or(next)) - now;
    const bool running = co_await api->Sleep(std::max<Duration>(pause, std::chrono::seconds(1)));
    if (!running) co_return;
    if (api->GetClock().Now() < next) {
      sooner = co_await repair->RunAddresses();
      continue;
    }
    sooner = co_await repair->Run();
    next = api->GetClock().Now() + interval;
  }
}

/// Checks the addresses after a pause in which further changes may come.
Task<> RepairSoon(LocalApiPtr api, std::shared_ptr<ServiceRepair> repair, std::shared_ptr<bool> scheduled) {
  const bool running = co_await api->Sleep(std::chrono::seconds(1));
  *scheduled = false;
  if (!running) co_return;
  co_await repair->RunAddresses();
}

/// Returns what watches for changes that harm services and repairs them. Everything runs on one thread.
std::shared_ptr<AddressWatch> WatchAddresses(LocalApiPtr api, std::shared_ptr<ServiceRepair> repair,
                                             const KindInputs& inputs) {
  const auto scheduled = std::make_shared<bool>(false);
  const auto harmed = [api, repair, scheduled] {
    if (std::exchange(*scheduled, true)) return;
    boost::asio::co_spawn(api->Executor(), RepairSoon(api, repair, scheduled), boost::asio::detached);
  };
  return std::make_shared<AddressWatch>(inputs.StoreOf({"networking.k8s.io", "v1", "ipaddresses"}),
                                        inputs.StoreOf({"", "v1", "services"}), harmed);
}

/// Runs the first check, and starts the loop.
Task<> StartServiceRepair(LocalApiPtr api, std::shared_ptr<ServiceRepair> repair, std::shared_ptr<AddressWatch> watch,
                          Duration interval) {
  const std::optional<WallTime> sooner = co_await repair->Run();
  boost::asio::co_spawn(api->Executor(), AddressWatch::Run(watch), boost::asio::detached);
  boost::asio::co_spawn(api->Executor(), RepairServices(api, repair, interval, sooner), boost::asio::detached);
}

Task<> StartElections(LocalApiPtr api, std::shared_ptr<LeaderElection> election) {
  boost::asio::co_spawn(api->Executor(), LeaderElection::Run(election), boost::asio::detached);
  co_return;
}

ServiceRepair::Options RepairOptions(const KindInputs& inputs, std::string host) {
  ServiceRepair::Options options;
  options.allocation = OptionsFrom(inputs);
  options.services = inputs.StoreOf({"", "v1", "services"});
  options.send = inputs.api.send;
  options.host = std::move(host);
  return options;
}

std::string Hostname() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

storage::StorePtr OpenMasterLeases(storage::Backend& backend) {
  storage::ResourceConfig config;
  config.resource = {"", "masterleases"};
  config.key_prefix = "masterleases";
  config.namespaced = false;
  return backend.Open(std::move(config));
}

}  // namespace

void AddBootstrapHooks(service::Runtime& runtime, const Flags& flags, LocalApiPtr api, storage::Backend& backend,
                       const std::function<bool(std::string_view group)>& serves, const KindInputs& inputs) {
  const features::FeatureGates& features = inputs.features;
  runtime.OnStop([api] { api->Stop(); });
  const auto namespaces = std::make_shared<Gate>();
  const auto add = [&](std::string name, std::shared_ptr<Gate> before, std::shared_ptr<Gate> after, Duration pause,
                       Work work) {
    runtime.PostStart(std::move(name), [=] { return RunHook(api, before, after, pause, work); });
  };
  constexpr Duration kOnce = Duration::zero();
  using std::chrono::seconds;

  if (serves("")) {
    add("start-system-namespaces-controller", nullptr, namespaces, seconds(60),
        [api] { return EnsureSystemNamespaces(api); });
    add("start-cluster-authentication-info-controller", namespaces, nullptr, seconds(60),
        [api, flags] { return EnsureAuthenticationInfo(api, flags); });
    add("start-legacy-token-tracking-controller", namespaces, nullptr, kOnce,
        [api] { return EnsureLegacyTokenTracking(api); });
  } else {
    namespaces->Open();  // another process of the mesh creates the namespaces
  }
  const std::vector<std::string>& modes = flags.authorization_mode;
  if (serves("rbac.authorization.k8s.io") && std::find(modes.begin(), modes.end(), "RBAC") != modes.end()) {
    add("rbac/bootstrap-roles", nullptr, nullptr, kOnce,
        [api, namespaces, features] { return EnsureRbacPolicy(api, namespaces, features); });
  }
  if (serves("scheduling.k8s.io")) {
    add("scheduling/bootstrap-system-priority-classes", nullptr, nullptr, kOnce,
        [api] { return EnsurePriorityClasses(api); });
  }
  if (serves("flowcontrol.apiserver.k8s.io")) {
    add("priority-and-fairness-config-producer", nullptr, nullptr, seconds(60),
        [api] { return EnsureFlowControl(api); });
  }
  if (serves("coordination.k8s.io") && features.Enabled(features::kAPIServerIdentity)) {
    const std::string host = Hostname();
    const std::string holder = IdentityLeaseName(host) + "_" + meta::NewUuid();
    add("start-kube-apiserver-identity-lease-controller", namespaces, nullptr, seconds(10),
        [api, host, holder] { return RenewIdentityLease(api, host, holder); });
    add("start-kube-apiserver-identity-lease-garbage-collector", namespaces, nullptr, seconds(3600),
        [api] { return CollectIdentityLeases(api); });
  }
  if (serves("internal.apiserver.k8s.io") && features.Enabled(features::kStorageVersionAPI)) {
    const std::string server = IdentityLeaseName(Hostname());
    const std::vector<StoredResource> resources = StoredResources(AllResources(inputs));
    add("built-in-resources-storage-version-updater", namespaces, nullptr, seconds(600),
        [api, server, resources] { return WriteStorageVersions(api, server, resources); });
  }
  if (serves("coordination.k8s.io") && features.Enabled(features::kCoordinatedLeaderElection)) {
    const auto election =
        std::make_shared<LeaderElection>(api, flags.leadership, fmt::format("{}_{}", Hostname(), meta::NewUuid()));
    add("start-kube-apiserver-coordinated-leader-election-controller", namespaces, nullptr, kOnce,
        [api, election] { return StartElections(api, election); });
    runtime.OnDrain([api, election](std::chrono::milliseconds limit) {
      auto released =
          boost::asio::co_spawn(api->Executor(), LeaderElection::Release(election), boost::asio::use_future);
      if (released.wait_for(limit) != std::future_status::ready) log::Warning("the lease is not released in time");
    });
  }
  const std::vector<std::string> cidrs = SplitList(flags.service_cluster_ip_range);
  if (serves("networking.k8s.io")) {
    add("start-kubernetes-service-cidr-controller", nullptr, nullptr, kOnce,
        [api, cidrs] { return EnsureServiceCidr(api, cidrs); });
  }
  if (serves("") && serves("networking.k8s.io") && serves("discovery.k8s.io")) {
    KubernetesServiceOptions options;
    options.cidrs = cidrs;
    options.advertise_address = flags.advertise_address;
    options.secure_port = flags.secure_port;
    options.endpoint_reconciler_type = flags.endpoint_reconciler_type;
    options.apiserver_count = flags.apiserver_count;
    if (const meta::Complaints complaints = CheckEndpointIp(flags.advertise_address);
        !flags.advertise_address.empty() && !complaints.empty()) {
      log::Warning("--advertise-address {}: {}; the service \"kubernetes\" gets no endpoints from this server",
                   flags.advertise_address, complaints.front());
      options.advertise_address.clear();
    }
    if (flags.endpoint_reconciler_type == "lease") options.master_leases = OpenMasterLeases(backend);
    options.node_port = flags.kubernetes_service_node_port;
    const auto first = std::make_shared<bool>(true);
    add("bootstrap-controller", namespaces, nullptr, seconds(10),
        [api, options, first] { return ReconcileKubernetesService(api, options, std::exchange(*first, false)); });
    runtime.OnDrain([api, options](std::chrono::milliseconds limit) {
      // The API of this process still serves, so that the endpoints can be written.
      auto removed = boost::asio::co_spawn(api->Executor(), RemoveOwnEndpoint(api, options), boost::asio::use_future);
      if (removed.wait_for(limit) != std::future_status::ready) log::Warning("the own endpoint is not removed in time");
    });
  }
  if (serves("")) {
    const auto repair = std::make_shared<ServiceRepair>(RepairOptions(inputs, Hostname()));
    const Duration interval = service::ParseDuration(flags.service_repair_interval).value_or(std::chrono::minutes(3));
    const std::shared_ptr<AddressWatch> watch = WatchAddresses(api, repair, inputs);
    runtime.OnStop([watch] { watch->Stop(); });
    runtime.PostStart("start-service-ip-repair-controllers",
                      [=] { return StartServiceRepair(api, repair, watch, interval); });
  }
}

}  // namespace apimesh::core_api
