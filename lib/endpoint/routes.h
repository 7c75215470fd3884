#pragma once

#include "lib/endpoint/served_resource.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::endpoint {

/// Returns whether the path of the request belongs to the resource, regardless of the method: it has the scope of the
/// resource, and as many segments as the objects, collections and subresources of the resource have. A cluster-scoped
/// resource has no paths below /namespaces/NAME/, because a user with rights in one namespace could otherwise reach it.
/// A namespaced resource has no paths without a namespace except the list and the watch across all namespaces. The
/// function does not check whether the subresource exists.
///
/// Built-in resources have the routes that kube-apiserver installs. For custom resources, kube-apiserver decides by the
/// verb instead, and so does this function.
bool InScope(const ServedResource& served, const mesh::Request& request);

}  // namespace apimesh::endpoint
