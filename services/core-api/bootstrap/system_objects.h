#pragma once

#include <map>
#include <string>
#include <vector>

#include "services/core-api/bootstrap/local_api.h"
#include "services/core-api/flags.h"

/// Objects with fixed names that other components of a cluster expect.
namespace apimesh::core_api {

/// Creates the namespaces default, kube-system, kube-public and kube-node-lease if they are missing.
Task<> EnsureSystemNamespaces(LocalApiPtr api);

/// Maintains the ConfigMap kube-system/extension-apiserver-authentication, from which extension API servers learn how
/// to authenticate clients and the front proxy. Entries of other replicas are kept.
Task<> EnsureAuthenticationInfo(LocalApiPtr api, Flags flags);
/// Returns `present`, with the missing elements of `mine` added to its JSON lists and certificate bundles.
std::map<std::string, std::string> MergeAuthenticationInfo(std::map<std::string, std::string> present,
                                                           const std::map<std::string, std::string>& mine);

/// Creates the ConfigMap that records since when the use of legacy service-account tokens is tracked.
Task<> EnsureLegacyTokenTracking(LocalApiPtr api);

/// Returns the name of the Lease that identifies this API server: "apiserver-" and a hash of the host name.
std::string IdentityLeaseName(std::string_view hostname);
/// Deletes the identity Leases of API servers that have not renewed them in time.
Task<> CollectIdentityLeases(LocalApiPtr api);
/// Creates or renews this Lease. `holder` must stay the same for the lifetime of the process.
Task<> RenewIdentityLease(LocalApiPtr api, std::string hostname, std::string holder);

}  // namespace apimesh::core_api
