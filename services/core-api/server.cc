#include "services/core-api/server.h"

#include <algorithm>

#include "lib/admission/server_inputs.h"
#include "lib/base/text/host_port.h"
#include "lib/endpoint/group_server.h"
#include "lib/mesh/callers.h"
#include "lib/mesh/in_process.h"
#include "lib/schema/builtin.h"
#include "lib/service/auth/grpc_authority.h"
#include "lib/service/authorize_create.h"
#include "lib/service/runtime.h"
#include "lib/service/sharding/shard.h"
#include "lib/service/stores/etcd_health.h"
#include "lib/service/stores/stores.h"
#include "services/core-api/auth/legacy_token_uses.h"
#include "services/core-api/auth/openid_paths.h"
#include "services/core-api/bootstrap/hooks.h"
#include "services/core-api/connect/proxy.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/core/pod_spec/capabilities.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/informer_sync.h"
#include "services/core-api/openapi/openapi_documents.h"
#include "services/core-api/plugin_api.h"
#include "services/core-api/resources/serve.h"

namespace apimesh::core_api {
namespace {

/// Returns the resources that this process serves. All resources are registered with the stores, because kinds and
/// plugins also read resources that other processes serve.
std::vector<registry::Resource> ResourcesServedHere(const KindInputs& inputs) {
  std::vector<registry::Resource> resources = AllResources(inputs);
  inputs.stores->Describe(resources);
  std::erase_if(resources, [&inputs](const registry::Resource& resource) { return !IsServedHere(inputs, resource); });
  return resources;
}

}  // namespace

int Run(const ServerFlags& server_flags, const Clock& clock) {
  Flags flags = server_flags.api;
  if (server_flags.advertise_port > 0) flags.secure_port = server_flags.advertise_port;
  const bool shard = server_flags.sharding.shard;
  if (shard && flags.api_groups.empty()) throw std::runtime_error("--shard needs --api-groups");
  // Before signals are handled by the runtime, so that they end the process while it waits for the signer.
  auto set_up_signer = externaljwt::Signer::SetUp(server_flags.token_signer.endpoint, clock);
  service::Runtime runtime("core-api", flags.common, clock);
  const std::shared_ptr<externaljwt::Signer> token_signer = std::move(set_up_signer);  // must not outlive the runtime
  runtime.ShareMemory();
  const service::Stores stores = service::OpenStores(flags.etcd, runtime);
  service::AddEtcdChecks(runtime, stores, server_flags.etcd_checks);
  const service::AuthClientPtr auth = service::NewAuthClient(
      std::make_shared<service::GrpcAuthority>(flags.common.EndpointOf(mesh::kAuthnAuthz, flags.authn_authz), clock),
      clock);
  const std::shared_ptr<mesh::DelegateClient> next = mesh::NewDelegateClient(
      flags.common.EndpointOf(mesh::kExtensionsApi, flags.extensions_api), runtime.Executor(), clock);

  endpoint::GroupServerOptions options;
  options.environment.sources.clock = &clock;
  options.environment.meta_schema = &schema::Builtin();
  options.environment.large_requests = runtime.LargeRequests();
  options.environment.min_request_timeout = std::chrono::seconds(flags.min_request_timeout);
  endpoint::ApplyGates(flags.common.Features(), options.environment);
  options.next = next;
  options.owns_groups = true;
  options.environment.delete_collection_workers = flags.delete_collection_workers;
  options.environment.authorize_create = service::CreateAuthorizer(auth);
  options.environment.authorize_unsafe_delete = service::UnsafeDeleteAuthorizer(auth);
  const std::string& host = server_flags.external_hostname;
  AddOpenIdPaths(flags, WithPort(host.empty() ? flags.advertise_address : host, flags.secure_port), token_signer,
                 options);
  if (token_signer) {
    token_signer->Start(runtime.GetMetrics(), runtime.Executor());
    runtime.OnStop([token_signer] { token_signer->Stop(); });
  }
  const auto openapi =
      std::make_shared<std::shared_ptr<OpenApiDocuments>>();  // set when the served resources are known
  const auto answer_openapi = [openapi](mesh::Request request) { return (*openapi)->Answer(std::move(request)); };
  options.paths["/openapi/v2"] = answer_openapi;
  options.paths["/openapi/v3/"] = answer_openapi;
  const auto server = std::make_shared<endpoint::GroupServer>(options);
  PluginApi plugin_api(flags, server, std::move(options));
  const auto api = std::make_shared<LocalApi>(plugin_api.Server(), runtime.Executor(), clock);

  KindInputs inputs;
  AllowedPodCapabilities().privileged = flags.allow_privileged;
  inputs.flags = flags;
  inputs.features = flags.common.Features();
  ActiveRuleFeatures() = RuleFeaturesOf(inputs.features);
  const bool protobuf =
      flags.storage_media_type_given && flags.storage_media_type == "application/vnd.kubernetes.protobuf";
  inputs.stores = std::make_shared<ResourceStores>(
      stores.backend, protobuf ? endpoint::StoredFormat::kProtobuf : endpoint::StoredFormat::kJson);
  inputs.auth = auth;
  inputs.api = MakeOwnApi(api);
  inputs.kubelets = std::make_shared<const Kubelets>(flags.kubelet, inputs.api.read, clock);
  inputs.cluster_client = NewClusterClient(clock);
  inputs.etcd = stores.client;
  inputs.token_signer = token_signer;
  inputs.clock = &clock;
  std::vector<registry::Resource> resources = ResourcesServedHere(inputs);

  // Plugins read all built-in resources from stores of this process, and custom resources from extensions-api.
  const auto find_store = [stores = inputs.stores](const meta::Gvr& resource) { return stores->Find(resource); };
  admission::PluginInputs plugin_inputs = admission::ServerInputs(runtime, auth, find_store, next, false);
  plugin_inputs.send = inputs.api.send;
  plugin_inputs.resolve_service =
      admission::ResolveServicesOf(mesh::InProcess(plugin_api.Server()), flags.enable_aggregator_routing, clock);
  plugin_inputs.tolerations = flags.tolerations;
  const admission::ChainPtr admission = admission::MakeChain(plugin_inputs, flags.admission);
  plugin_api.Serve(inputs, admission);
  const auto store = [&inputs](const registry::Resource& resource) { return inputs.stores->Find(resource.GetGvr()); };
  std::vector<endpoint::ServedVersion> versions = ServeAll(std::move(resources), store, admission);
  *openapi = std::make_shared<OpenApiDocuments>(versions, flags.descriptions_file,
                                                inputs.features.Enabled(features::kOpenAPIEnums));
  AddInformerSync(runtime, versions, inputs.stores->Find({"", "v1", "namespaces"}), inputs.features,
                  server_flags.storage_initialization_timeout);
  const auto serves = [&versions](std::string_view group) {
    return std::any_of(versions.begin(), versions.end(),
                       [group](const auto& served) { return served.version.group == group; });
  };
  if (!shard) AddBootstrapHooks(runtime, flags, api, *stores.backend, serves, inputs);
  const auto add_methods = [&, serves_core = serves("")](grpc::Methods& methods) {
    if (serves_core) AddLegacyTokenMethods(inputs.api, clock, methods);
  };
  server->Replace(std::move(versions));
  std::shared_ptr<mesh::DelegateHandler> handler = server;
  if (shard) handler = service::ServeAsShard(runtime, server, flags.api_groups);
  runtime.Serve(std::move(handler), add_methods);
  return runtime.Run();
}

}  // namespace apimesh::core_api
