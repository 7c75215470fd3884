#include "services/core-api/server.h"

#include <algorithm>

#include "lib/admission/all_plugins.h"
#include "lib/endpoint/group_server.h"
#include "lib/endpoint/storage_config.h"
#include "lib/rpc/callers.h"
#include "lib/schema/builtin.h"
#include "lib/service/authorize_create.h"
#include "lib/service/runtime.h"
#include "lib/stores/etcd_health.h"
#include "lib/stores/stores.h"
#include "services/core-api/auth/openid_paths.h"
#include "services/core-api/bootstrap/hooks.h"
#include "services/core-api/groups/actions.h"
#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/core/componentstatus/componentstatus.h"
#include "services/core-api/groups/core/namespace/namespace.h"
#include "services/core-api/groups/core/pod/pod.h"
#include "services/core-api/groups/core/service/allocation.h"
#include "services/core-api/groups/rbac/escalation/escalation.h"
#include "services/core-api/informer_sync.h"
#include "services/core-api/openapi/openapi_documents.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/resources/runtime_config.h"
#include "services/core-api/resources/serve.h"
#include "services/core-api/resources/stores_by_resource.h"

namespace apimesh::core_api {
namespace {

std::vector<registry::Resource> Resources(const Flags& flags) {
  std::vector<std::string> groups = flags.api_groups;
  std::replace(groups.begin(), groups.end(), std::string("core"), std::string());
  std::vector<registry::Resource> resources = AllResources(groups);
  std::erase_if(resources, [&](const registry::Resource& resource) { return !IsServed(flags.runtime_config, resource.GetGvr()); });
  const auto ttl = service::ParseDuration(flags.event_ttl);
  for (registry::Resource& resource : resources) {
    if (resource.storage_prefix == "events" && ttl) resource.ttl = std::chrono::duration_cast<std::chrono::seconds>(*ttl);
  }
  return resources;
}

/// Services get their addresses and node ports. Gives the store of addresses, which is served as well.
storage::StorePtr EquipServices(const Flags& flags, storage::Backend& backend, std::vector<registry::Resource>& resources) {
  AllocationOptions options;
  std::string_view cidrs = flags.service_cluster_ip_range;
  while (!cidrs.empty()) {
    const std::size_t comma = std::min(cidrs.find(','), cidrs.size());
    const std::optional<IpRange> range = IpRange::Parse(cidrs.substr(0, comma));
    if (!range) throw std::invalid_argument("--service-cluster-ip-range: not a CIDR: " + std::string(cidrs.substr(0, comma)));
    options.cidrs.push_back(*range);
    cidrs.remove_prefix(std::min(comma + 1, cidrs.size()));
  }
  const std::optional<PortRange> ports = PortRange::Parse(flags.service_node_port_range);
  if (!ports) throw std::invalid_argument("--service-node-port-range: not a range of ports: " + flags.service_node_port_range);
  options.node_ports = *ports;
  options.ip_addresses = backend.Open(endpoint::StorageConfig(FromTable("networking.k8s.io", "v1", "ipaddresses")));
  options.ranges = backend.Open(RangesConfig());
  const storage::StorePtr addresses = options.ip_addresses;
  const std::shared_ptr<registry::Hooks> hooks = MakeServiceHooks(std::move(options));
  for (registry::Resource& resource : resources) {
    if (resource.storage_prefix == "services/specs") resource.hooks = hooks;
  }
  return addresses;
}

Task<meta::Result<meta::Object>> ReadObjectBy(LocalApiPtr api, std::string path) {
  if (!api) co_return meta::ServiceUnavailable("the server is stopping");
  co_return co_await api->GetOnce(std::move(path));
}

Task<meta::Result<meta::Object>> SendObjectBy(LocalApiPtr api, std::string method, std::string path, std::string body) {
  if (!api) co_return meta::ServiceUnavailable("the server is stopping");
  co_return co_await api->Once(std::move(method), std::move(path), std::move(body));
}

Task<ComponentHealth> AskEtcd(std::shared_ptr<etcd::Client> client, SteadyTime deadline) {
  etcd::RangeOptions options;
  options.keys_only = true;
  options.deadline = deadline;
  const auto answer = co_await client->Range("health", std::move(options));
  co_return ComponentHealth{static_cast<bool>(answer), answer ? "ok" : answer.error().message};
}

/// The components of a control plane, where kubeadm and others run them.
ComponentProbes Components(const Flags& flags, std::shared_ptr<etcd::Client> client) {
  constexpr int kControllerManagerPort = 10257, kSchedulerPort = 10259;
  ComponentProbes probes = {{"controller-manager", HttpProbe(kControllerManagerPort)}, {"scheduler", HttpProbe(kSchedulerPort)}};
  for (std::size_t i = 0; i < flags.etcd.servers.size(); ++i) {
    probes["etcd-" + std::to_string(i)] = [client](SteadyTime deadline) { return AskEtcd(client, deadline); };
  }
  return probes;
}

}  // namespace

int Run(const Flags& flags) {
  service::Runtime runtime("core-api", flags.common);
  runtime.ShareMemory();
  const stores::Stores stores = stores::OpenStores(flags.etcd, runtime);
  const std::shared_ptr<storage::Backend>& backend = stores.backend;
  stores::AddEtcdChecks(runtime, stores);

  const storage::StorePtr namespaces = backend->Open(endpoint::StorageConfig(NamespaceResource()));
  const service::AuthClientPtr auth = service::NewAuthClient(flags.common.EndpointOf(rpc::kAuthnAuthz, flags.authn_authz));
  const auto stores_by_resource = std::make_shared<StoresByResource>(backend);
  const auto find_store = [stores_by_resource](const meta::GroupResource& resource) { return stores_by_resource->Find(resource); };
  const admission::ChainPtr admission = admission::MakeChain(
      {.namespaces = namespaces, .store = find_store, .auth = auth},
      {.enable = flags.enable_admission_plugins, .disable = flags.disable_admission_plugins, .only = flags.admission_control});

  endpoint::GroupServerOptions options;
  options.environment.meta_schema = &schema::Builtin();
  options.environment.large_requests = runtime.LargeRequests();
  options.environment.min_request_timeout = std::chrono::seconds(flags.min_request_timeout);
  options.next = std::shared_ptr(
      rpc::NewDelegateClient(flags.common.EndpointOf(rpc::kExtensionsApi, flags.extensions_api), runtime.Executor()));
  options.environment.authorize_create = service::CreateAuthorizer(auth);
  options.environment.authorize_unsafe_delete = service::UnsafeDeleteAuthorizer(auth);
  AddOpenIdPaths(flags, options);
  const auto openapi = std::make_shared<std::shared_ptr<OpenApiDocuments>>();  // filled once it is known what is served
  const auto answer_openapi = [openapi](rpc::Request request) { return (*openapi)->Answer(std::move(request)); };
  options.paths["/openapi/v2"] = answer_openapi;
  options.paths["/openapi/v3/"] = answer_openapi;
  const auto server = std::make_shared<endpoint::GroupServer>(std::move(options));
  const auto api = std::make_shared<LocalApi>(server, runtime.Executor());

  std::vector<registry::Resource> resources = Resources(flags);
  const std::weak_ptr<LocalApi> own_api = api;
  const storage::StorePtr pods = backend->Open(endpoint::StorageConfig(PodResource()));
  ActionInputs actions;
  actions.auth = auth;
  actions.issuer = MakeTokenIssuer(flags);
  actions.read = [own_api](std::string path) { return ReadObjectBy(own_api.lock(), std::move(path)); };
  actions.send = [own_api](std::string method, std::string path, std::string body) {
    return SendObjectBy(own_api.lock(), std::move(method), std::move(path), std::move(body));
  };
  actions.pods = pods;
  actions.kubelets = std::make_shared<const Kubelets>(flags.kubelet, actions.read);
  AddActions(resources, actions);
  const storage::StorePtr addresses = EquipServices(flags, *backend, resources);
  const OpenedStores opened = {{"namespaces", namespaces},
                               {"ipaddresses", addresses},
                               {"pods", pods},
                               {"componentstatuses", ComponentStatusStore(Components(flags, stores.client))}};
  std::vector<endpoint::ServedVersion> versions = ServeAll(
      std::move(resources), *backend, opened,
      {.admission = admission, .connectors = MakeConnectors(actions), .checks = EscalationChecks(auth, actions.read)});
  stores_by_resource->Add(versions);
  *openapi = std::make_shared<OpenApiDocuments>(versions);
  AddInformerSync(runtime.Health(), versions);
  const auto serves = [&versions](std::string_view group) {
    return std::any_of(versions.begin(), versions.end(), [group](const auto& served) { return served.version.group == group; });
  };
  AddBootstrapHooks(runtime, flags, api, *backend, serves);
  server->Replace(std::move(versions));
  runtime.Serve(server);
  return runtime.Run();
}

}  // namespace apimesh::core_api
