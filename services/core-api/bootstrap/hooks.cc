#include "services/core-api/bootstrap/hooks.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "lib/base/log.h"
#include "lib/meta/uuid.h"
#include "services/core-api/bootstrap/gate.h"
#include "services/core-api/bootstrap/kubernetes_service.h"
#include "services/core-api/bootstrap/policies.h"
#include "services/core-api/bootstrap/system_objects.h"
#include "services/core-api/groups/ip_rules.h"

namespace apimesh::core_api {
namespace {

using Work = std::function<Task<>()>;

/// The work again and again, with this pause between the runs, until the process stops.
Task<> Repeat(LocalApiPtr api, Duration pause, Work work) {
  for (;;) {
    const bool running = co_await api->Sleep(pause);  // not in a loop's condition: GCC 12 makes bad code of that
    if (!running) co_return;
    co_await work();
  }
}

/// First the gate, then the work: that is the hook. After it, the work is repeated, unless `pause` is zero.
Task<> RunHook(LocalApiPtr api, std::shared_ptr<Gate> before, std::shared_ptr<Gate> after, Duration pause, Work work) {
  if (before) co_await Gate::Wait(before);
  co_await work();
  if (after) after->Open();
  if (pause > Duration::zero()) {
    boost::asio::co_spawn(api->Executor(), Repeat(api, pause, std::move(work)), boost::asio::detached);
  }
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
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
                       const std::function<bool(std::string_view group)>& serves) {
  runtime.OnStop([api] { api->Stop(); });
  const auto namespaces = std::make_shared<Gate>();
  const auto add = [&](std::string name, std::shared_ptr<Gate> before, std::shared_ptr<Gate> after, Duration pause, Work work) {
    runtime.PostStart(std::move(name), [=] { return RunHook(api, before, after, pause, work); });
  };
  constexpr Duration kOnce = Duration::zero();
  using std::chrono::seconds;

  if (serves("")) {
    add("start-system-namespaces-controller", nullptr, namespaces, seconds(60), [api] { return EnsureSystemNamespaces(api); });
    add("start-cluster-authentication-info-controller", namespaces, nullptr, seconds(60),
        [api, flags] { return EnsureAuthenticationInfo(api, flags); });
    add("start-legacy-token-tracking-controller", namespaces, nullptr, kOnce, [api] { return EnsureLegacyTokenTracking(api); });
  } else {
    namespaces->Open();  // another process of the mesh makes them
  }
  const std::vector<std::string>& modes = flags.authorization_mode;
  if (serves("rbac.authorization.k8s.io") && std::find(modes.begin(), modes.end(), "RBAC") != modes.end()) {
    add("rbac/bootstrap-roles", nullptr, nullptr, kOnce, [api, namespaces] { return EnsureRbacPolicy(api, namespaces); });
  }
  if (serves("scheduling.k8s.io")) {
    add("scheduling/bootstrap-system-priority-classes", nullptr, nullptr, kOnce, [api] { return EnsurePriorityClasses(api); });
  }
  if (serves("flowcontrol.apiserver.k8s.io")) {
    add("priority-and-fairness-config-producer", nullptr, nullptr, seconds(60), [api] { return EnsureFlowControl(api); });
  }
  if (serves("coordination.k8s.io")) {
    const std::string host = Hostname();
    const std::string holder = IdentityLeaseName(host) + "_" + meta::NewUuid();
    add("start-kube-apiserver-identity-lease-controller", namespaces, nullptr, seconds(10),
        [api, host, holder] { return RenewIdentityLease(api, host, holder); });
  }
  const std::vector<std::string> cidrs = Split(flags.service_cluster_ip_range);
  if (serves("networking.k8s.io")) {
    add("start-kubernetes-service-cidr-controller", nullptr, nullptr, kOnce, [api, cidrs] { return EnsureServiceCidr(api, cidrs); });
  }
  if (serves("") && serves("networking.k8s.io") && serves("discovery.k8s.io")) {
    KubernetesServiceOptions options;
    options.cidrs = cidrs;
    options.advertise_address = flags.advertise_address;
    options.secure_port = flags.secure_port;
    options.endpoint_reconciler_type = flags.endpoint_reconciler_type;
    if (const meta::Complaints complaints = CheckEndpointIp(flags.advertise_address); !flags.advertise_address.empty() && !complaints.empty()) {
      log::Warning("--advertise-address {}: {}; the service \"kubernetes\" gets no endpoints from this server", flags.advertise_address,
                   complaints.front());
      options.advertise_address.clear();
    }
    if (flags.endpoint_reconciler_type == "lease") options.master_leases = OpenMasterLeases(backend);
    add("bootstrap-controller", namespaces, nullptr, seconds(10), [api, options] { return ReconcileKubernetesService(api, options); });
  }
}

}  // namespace apimesh::core_api
