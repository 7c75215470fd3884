#include "services/extensions-api/server.h"

#include "lib/admission/all_plugins.h"
#include "lib/endpoint/group_server.h"
#include "lib/endpoint/storage_config.h"
#include "lib/rpc/callers.h"
#include "lib/schema/builtin.h"
#include "lib/service/authorize_create.h"
#include "lib/service/runtime.h"
#include "lib/stores/stores.h"
#include "services/extensions-api/controller/crd_controller.h"
#include "services/extensions-api/crd/crd_resource.h"
#include "services/extensions-api/openapi/documents.h"

namespace apimesh::extensions_api {
namespace {

/// Namespaces are core-api's; admission reads their phase here.
storage::StorePtr OpenNamespaces(storage::Backend& backend) {
  registry::Resource namespaces;
  namespaces.gvk = namespaces.storage_gvk = {"", "v1", "Namespace"};
  namespaces.plural = namespaces.storage_prefix = "namespaces";
  namespaces.scope = registry::Scope::kCluster;
  namespaces.schema = schema::Builtin().FindKind(namespaces.gvk);
  namespaces.selectable_fields = {"status.phase"};
  return backend.Open(endpoint::StorageConfig(namespaces));
}

/// The definitions themselves, with the priorities of the reference.
endpoint::ServedVersion OwnVersion(storage::StorePtr crds, admission::ChainPtr admission) {
  auto served = std::make_shared<endpoint::ServedResource>();
  served->resource = CrdResource();
  served->store = std::move(crds);
  served->admission = std::move(admission);
  return {served->resource.gvk.Version(), 16700, 15, {served}, "1"};  // its schema changes with the program only
}

}  // namespace

int Run(const Flags& flags) {
  service::Runtime runtime("extensions-api", flags.common);
  runtime.ShareMemory();
  const std::shared_ptr<storage::Backend> backend = stores::OpenStores(flags.etcd, runtime).backend;
  const storage::StorePtr namespaces = OpenNamespaces(*backend);
  const storage::StorePtr crds = backend->Open(endpoint::StorageConfig(CrdResource()));
  const service::AuthClientPtr auth = service::NewAuthClient(flags.common.EndpointOf(rpc::kAuthnAuthz, flags.authn_authz));
  const admission::ChainPtr admission = admission::MakeChain(
      {.namespaces = namespaces, .auth = auth},
      {.enable = flags.enable_admission_plugins, .disable = flags.disable_admission_plugins, .only = flags.admission_control});

  endpoint::GroupServerOptions options;
  options.environment.meta_schema = &schema::Builtin();
  options.environment.large_requests = runtime.LargeRequests();
  options.environment.min_request_timeout = std::chrono::seconds(flags.min_request_timeout);
  options.environment.authorize_create = service::CreateAuthorizer(auth);
  options.environment.authorize_unsafe_delete = service::UnsafeDeleteAuthorizer(auth);
  options.paths = OpenApiPaths(crds);
  const auto environment = std::make_shared<const endpoint::Environment>(options.environment);
  const auto server = std::make_shared<endpoint::GroupServer>(std::move(options));

  const auto controller = std::make_shared<CrdController>(CrdController::Parts{
      .crds = crds,
      .server = server,
      .own = {OwnVersion(crds, admission)},
      .sources = {backend, admission},
      .environment = environment,
      .executor = runtime.Executor(),
  });
  runtime.OnStop([controller] { controller->Stop(); });
  const auto synced = [controller] { return controller->Synced() ? std::string() : std::string("not all definitions are served yet"); };
  runtime.Health().Add("crd-informer-synced", synced, service::HealthChecks::kReadyz);
  controller->Start();
  runtime.Serve(server);
  return runtime.Run();
}

}  // namespace apimesh::extensions_api
