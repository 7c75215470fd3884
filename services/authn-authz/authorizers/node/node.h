#pragma once

#include "services/authn-authz/authorizers/authorizer.h"
#include "services/authn-authz/authorizers/node/node_graph.h"

namespace apimesh::authn_authz {

/// Kubelets (user system:node:NAME, group system:nodes) may read what their own pods use, write their own node, lease and
/// CSINode, and the few things every node may do.
std::unique_ptr<Authorizer> NewNodeAuthorizer(std::shared_ptr<const NodeGraph> graph);

}  // namespace apimesh::authn_authz
