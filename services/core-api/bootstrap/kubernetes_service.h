#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/storage/store.h"
#include "services/core-api/bootstrap/local_api.h"

/// The Service default/kubernetes, through which a cluster reaches its API, with what belongs to it.
namespace apimesh::core_api {

struct KubernetesServiceOptions {
  std::vector<std::string> cidrs;  // --service-cluster-ip-range, the first one is the Service's
  std::string advertise_address;
  int secure_port = 6443;
  std::string endpoint_reconciler_type = "lease";
  storage::StorePtr master_leases;  // addresses of all API servers, each with a time to live
};

/// The first address after the network's own: "10.0.0.1" of "10.0.0.0/24"; nullopt: not a CIDR.
std::optional<std::string> FirstServiceAddress(std::string_view cidr);

/// The objects, as they are made.
meta::Object KubernetesService(const KubernetesServiceOptions& options);
meta::Object KubernetesEndpoints(const std::vector<std::string>& addresses, int port);
meta::Object KubernetesEndpointSlice(const std::vector<std::string>& addresses, int port);
meta::Object KubernetesServiceCidr(const std::vector<std::string>& cidrs);

/// Makes the Service and its IPAddress if they are missing, tells that this server is alive, and brings Endpoints and
/// EndpointSlice in line with all servers that are.
Task<> ReconcileKubernetesService(LocalApiPtr api, KubernetesServiceOptions options);
/// The ServiceCIDR "kubernetes" and its condition Ready.
Task<> EnsureServiceCidr(LocalApiPtr api, std::vector<std::string> cidrs);

}  // namespace apimesh::core_api
