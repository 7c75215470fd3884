#pragma once

#include "lib/endpoint/served_resource.h"
#include "lib/rpc/delegate.h"

namespace apimesh::endpoint {

/// Whether the path of the request belongs to the resource, whatever the method: it has the scope of the resource, and as many
/// segments as the objects, collections and subresources of the resource have. A cluster-scoped resource has no paths below
/// /namespaces/NAME/, or a user with rights in one namespace could reach it with those. A namespaced resource has no paths
/// without a namespace except the list and the watch across all namespaces. Whether the subresource exists is not checked.
///
/// Built-in resources have the routes that kube-apiserver installs. For custom resources, kube-apiserver decides by the verb
/// instead, and so does this function.
bool InScope(const ServedResource& served, const rpc::Request& request);

}  // namespace apimesh::endpoint
