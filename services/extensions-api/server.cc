#include "services/extensions-api/server.h"

#include <boost/asio/strand.hpp>

#include "lib/admission/server_inputs.h"
#include "lib/base/async/wait_until.h"
#include "lib/endpoint/group_server.h"
#include "lib/endpoint/storage_config.h"
#include "lib/mesh/callers.h"
#include "lib/mesh/in_process.h"
#include "lib/schema/builtin.h"
#include "lib/service/auth/grpc_authority.h"
#include "lib/service/authorize_create.h"
#include "lib/service/runtime.h"
#include "lib/service/sharding/shard.h"
#include "lib/service/stores/stores.h"
#include "services/extensions-api/controller/answer_when_served.h"
#include "services/extensions-api/controller/crd_controller.h"
#include "services/extensions-api/crd/crd_resource.h"
#include "services/extensions-api/openapi/documents.h"

namespace apimesh::extensions_api {
namespace {

/// The time that replicas have to serve a definition before it is Established, as in kube-apiserver.
constexpr Duration kEstablishDelay = std::chrono::seconds(5);

/// The definitions themselves, with the priorities of kube-apiserver.
endpoint::ServedVersion OwnVersion(storage::StorePtr crds, admission::ChainPtr admission,
                                   std::shared_ptr<registry::Hooks> hooks, const schema::Descriptions& descriptions,
                                   const Clock& clock) {
  auto served = std::make_shared<endpoint::ServedResource>();
  served->resource = CrdResource(clock);
  served->resource.hooks = std::move(hooks);
  served->store = std::move(crds);
  served->admission = std::move(admission);
  // Its schema changes only with a new release of this program, its texts with their file.
  return {served->resource.gvk.Version(), 16700, 15, {served}, "1" + descriptions.Digest()};
}

}  // namespace

int Run(const Flags& flags, const Clock& clock) {
  service::Runtime runtime("extensions-api", flags.common, clock);
  runtime.ShareMemory();
  const std::shared_ptr<storage::Backend> backend = service::OpenStores(flags.etcd, runtime).backend;
  const storage::StorePtr crds = backend->Open(endpoint::StorageConfig(CrdResource(clock)));
  const service::AuthClientPtr auth = service::NewAuthClient(
      std::make_shared<service::GrpcAuthority>(flags.common.EndpointOf(mesh::kAuthnAuthz, flags.authn_authz), clock),
      clock);
  const std::shared_ptr<mesh::DelegateClient> core_api = mesh::NewDelegateClient(
      flags.common.EndpointOf(mesh::kCoreApi, flags.core_api.front()), runtime.Executor(), clock);
  const auto find_store = [crds, own = CrdResource(clock).GetGvr()](const meta::Gvr& resource) {
    return resource == own ? crds : nullptr;
  };
  const admission::ChainPtr admission = admission::MakeChain(
      admission::ServerInputs(runtime, auth, find_store, core_api, flags.enable_aggregator_routing), flags.admission);

  endpoint::GroupServerOptions options;
  options.environment.sources.clock = &clock;
  options.environment.meta_schema = &schema::Builtin();
  options.environment.large_requests = runtime.LargeRequests();
  options.environment.min_request_timeout = std::chrono::seconds(flags.min_request_timeout);
  options.environment.delete_collection_workers = flags.delete_collection_workers;
  endpoint::ApplyGates(flags.common.Features(), options.environment);
  options.environment.authorize_create = service::CreateAuthorizer(auth);
  options.environment.authorize_unsafe_delete = service::UnsafeDeleteAuthorizer(auth);
  const auto descriptions = std::make_shared<const schema::Descriptions>(flags.descriptions_file);
  const auto served = std::make_shared<ServedDefinitions>();
  options.paths = OpenApiPaths(crds, served, descriptions, clock);
  const auto unresolvable = std::make_shared<UnresolvableResources>();
  options.next = mesh::InProcess(AnswerUnresolvable(unresolvable));
  const auto environment = std::make_shared<const endpoint::Environment>(options.environment);
  const auto server = std::make_shared<endpoint::GroupServer>(std::move(options));
  const auto handler = std::make_shared<AnswerWhenServed>(server, served, clock);

  service::WebhookSources webhooks{.clock = clock};
  webhooks.resolve = [core_api, &clock,
                      endpoints = flags.enable_aggregator_routing](service::ServiceReference service) {
    return service::ResolveService(core_api, std::move(service), endpoints, clock);
  };
  const auto controller = std::make_shared<CrdController>(CrdController::Parts{
      .crds = crds,
      .server = server,
      .own = {OwnVersion(crds, admission, handler->CreationHooks(), *descriptions, clock)},
      .openapi_digest = descriptions->Digest(),
      .unresolvable = unresolvable,
      .served = served,
      .sources = {backend, admission, std::move(webhooks), &runtime.GetMetrics()},
      .environment = environment,
      .executor =
          boost::asio::make_strand(runtime.LargeRequests()),  // compiling a large schema must not delay requests
      .establish_delay = flags.apiserver_count > 1 ? kEstablishDelay : Duration::zero(),
  });
  runtime.OnStop([controller] { controller->Stop(); });
  runtime.PostStart("start-apiextensions-informers",
                    [crds] { return WaitUntil([crds] { return crds->Ready().has_value(); }); });
  const auto synced = [controller] { return controller->Synced(); };
  runtime.PostStart("start-apiextensions-controllers", [synced] { return WaitUntil(synced); });
  runtime.PostStart("crd-informer-synced", [synced] { return WaitUntil(synced); });
  controller->Start();
  if (flags.sharding.shard == flags.api_groups.empty())
    throw std::runtime_error("extensions-api needs --shard and --api-groups together, or none of them");
  if (flags.sharding.shard) {
    runtime.Serve(service::ServeAsShard(runtime, handler, flags.api_groups));
  } else {
    runtime.Serve(handler);
  }
  return runtime.Run();
}

}  // namespace apimesh::extensions_api
