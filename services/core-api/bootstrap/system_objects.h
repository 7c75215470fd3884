#pragma once

#include <map>
#include <string>
#include <vector>

#include "services/core-api/bootstrap/local_api.h"
#include "services/core-api/flags.h"

/// Small objects that other parts of a cluster look for.
namespace apimesh::core_api {

/// default, kube-system, kube-public, kube-node-lease.
Task<> EnsureSystemNamespaces(LocalApiPtr api);

/// The ConfigMap kube-system/extension-apiserver-authentication: how other servers recognise our clients and our proxy.
/// What other replicas wrote stays.
Task<> EnsureAuthenticationInfo(LocalApiPtr api, Flags flags);
/// `mine` and `present` as one: lists (JSON) and bundles of certificates get what they lack.
std::map<std::string, std::string> MergeAuthenticationInfo(std::map<std::string, std::string> present,
                                                           const std::map<std::string, std::string>& mine);

/// The ConfigMap that tells since when the use of legacy service-account tokens is noted.
Task<> EnsureLegacyTokenTracking(LocalApiPtr api);

/// The Lease by which API servers are counted: "apiserver-" and a hash of the machine's name.
std::string IdentityLeaseName(std::string_view hostname);
/// Creates or renews it. `holder` is the same for the whole life of the process.
Task<> RenewIdentityLease(LocalApiPtr api, std::string hostname, std::string holder);

}  // namespace apimesh::core_api
