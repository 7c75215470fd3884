#pragma once

#include "lib/admission/all_plugins.h"
#include "lib/admission/objects/cluster_objects.h"
#include "lib/service/runtime.h"

namespace apimesh::admission {

/// Creates the inputs of the plugins of a server. `store` returns the store of a resource that this process reads from
/// etcd itself, or nullptr. All other resources are read from `server`, a peer process (see ClusterObjects::Parts), to
/// which plugins also send their writes. core-api replaces PluginInputs::send and resolve_service by
/// those of its own API.
///
/// `endpoint_routing` is --enable-aggregator-routing: webhooks are called at the endpoints of their services.
PluginInputs ServerInputs(service::Runtime& runtime, service::AuthClientPtr auth,
                          std::function<storage::StorePtr(const meta::Gvr& resource)> store,
                          std::shared_ptr<mesh::DelegateClient> server, bool endpoint_routing);

/// Returns a PluginInputs::resolve_service that reads services from core-api.
std::function<Task<meta::Result<std::string>>(service::ServiceReference service)> ResolveServicesOf(
    std::shared_ptr<mesh::DelegateClient> core_api, bool endpoint_routing, const Clock& clock);

}  // namespace apimesh::admission
