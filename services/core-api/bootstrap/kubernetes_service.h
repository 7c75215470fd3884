#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/storage/store.h"
#include "services/core-api/bootstrap/local_api.h"

/// The Service default/kubernetes, through which workloads in the cluster reach the API, with its Endpoints,
/// EndpointSlice and ServiceCIDR.
namespace apimesh::core_api {

struct KubernetesServiceOptions {
  std::vector<std::string> cidrs;  // --service-cluster-ip-range; the Service gets its address from the first one
  std::string advertise_address;
  int secure_port = 6443;
  int node_port = 0;  // 0: the Service has type ClusterIP
  std::string endpoint_reconciler_type = "lease";
  int apiserver_count = 1;          // --apiserver-count: how many addresses the reconciler "master-count" keeps
  storage::StorePtr master_leases;  // one lease per API server; only for the reconciler "lease"
  /// Set when the process stops. The endpoints are not reconciled from then on.
  std::shared_ptr<std::atomic<bool>> stopping = std::make_shared<std::atomic<bool>>(false);
};

/// Returns the first address after the network address ("10.0.0.1" for "10.0.0.0/24"), or nullopt if the text is not a
/// CIDR.
std::optional<std::string> FirstServiceAddress(std::string_view cidr);

/// These functions return the objects in the state in which they are created.
meta::Object KubernetesService(const KubernetesServiceOptions& options);
meta::Object KubernetesEndpoints(const std::vector<std::string>& addresses, int port);
meta::Object KubernetesEndpointSlice(const std::vector<std::string>& addresses, int port);
meta::Object KubernetesServiceCidr(const std::vector<std::string>& cidrs);

/// Creates the Service if it is missing, renews the lease of this server, and updates Endpoints and EndpointSlice to
/// contain the addresses of all servers whose leases are valid. `correct`: also corrects the type and the ports of an
/// existing Service, which kube-apiserver does once, when it starts.
Task<> ReconcileKubernetesService(LocalApiPtr api, KubernetesServiceOptions options, bool correct);
/// Removes the address of this server from Endpoints and EndpointSlice, because the process stops. The last address of
/// the reconciler "lease" stays, as in kube-apiserver.
Task<> RemoveOwnEndpoint(LocalApiPtr api, KubernetesServiceOptions options);

/// Returns the addresses that the reconciler "master-count" writes: `present` with `own`, sorted. If there are more
/// than `count`, the addresses that follow `own` are removed; the list is a ring.
std::vector<std::string> MasterCountAddresses(std::vector<std::string> present, const std::string& own, int count);

/// Creates the ServiceCIDR "kubernetes" if it is missing, and sets its condition Ready.
Task<> EnsureServiceCidr(LocalApiPtr api, std::vector<std::string> cidrs);

}  // namespace apimesh::core_api
