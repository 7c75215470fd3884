#pragma once

#include "services/authn-authz/authorizers/authorizer.h"
#include "services/authn-authz/authorizers/inputs.h"
#include "services/authn-authz/authorizers/node/node_graph.h"

namespace apimesh::authn_authz {

/// Authorizes kubelets (user system:node:NAME, group system:nodes) to read the objects that their pods use, to write
/// their own Node, Lease and CSINode, and to use the permissions that every node has.
std::unique_ptr<Authorizer> NewNodeAuthorizer(std::shared_ptr<const NodeGraph> graph,
                                              const features::FeatureGates& features = {});

/// Factory for chain.cc.
std::unique_ptr<Authorizer> MakeNode(const AuthorizerInputs& inputs);

}  // namespace apimesh::authn_authz
