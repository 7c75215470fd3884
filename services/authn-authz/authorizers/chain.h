#pragma once

#include "services/authn-authz/authorizers/authorizer.h"
#include "services/authn-authz/authorizers/node/node_graph.h"
#include "services/authn-authz/authorizers/rbac/rbac_index.h"
#include "services/authn-authz/config/authorization_config.h"

namespace apimesh::authn_authz {

struct AuthorizerInputs {
  std::shared_ptr<const RbacIndex> rbac;
  std::shared_ptr<const NodeGraph> graph;
  std::function<bool()> loaded;
};
/// system:masters first, then those of `configs` in their order. Throws std::runtime_error with a clear text.
std::unique_ptr<Authorizer> BuildAuthorizerChain(const std::vector<AuthorizerConfig>& configs,
                                                 const AuthorizationOptions& options, AuthorizerInputs inputs,
                                                 const Clock& clock, service::Metrics& metrics);

bool HasMode(const std::vector<AuthorizerConfig>& configs, std::string_view mode);

}  // namespace apimesh::authn_authz
