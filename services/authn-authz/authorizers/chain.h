#pragma once

#include "services/authn-authz/authorizers/authorizer.h"
#include "services/authn-authz/authorizers/node/node_graph.h"
#include "services/authn-authz/authorizers/rbac/rbac_index.h"
#include "services/authn-authz/config/options.h"

namespace apimesh::authn_authz {

struct AuthorizerInputs {
  std::shared_ptr<const RbacIndex> rbac;
  std::shared_ptr<const NodeGraph> graph;
  std::function<bool()> loaded;
};
/// system:masters first, then the modes in the order given. Throws std::runtime_error with a clear text.
std::unique_ptr<Authorizer> BuildAuthorizerChain(const AuthorizationOptions& options, AuthorizerInputs inputs);

/// Whether the flags ask for this mode.
bool HasMode(const AuthorizationOptions& options, std::string_view mode);

}  // namespace apimesh::authn_authz
