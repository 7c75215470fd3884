#pragma once

#include <functional>

#include "lib/service/metrics.h"
#include "services/authn-authz/authorizers/authorizer.h"
#include "services/authn-authz/authorizers/node/node_graph.h"
#include "services/authn-authz/authorizers/rbac/rbac_index.h"
#include "services/authn-authz/config/authorization_config.h"

namespace apimesh::authn_authz {

/// The state of the cluster that authorizers need.
struct AuthorizationState {
  std::shared_ptr<const RbacIndex> rbac;
  std::shared_ptr<const NodeGraph> graph;
  std::function<bool()> loaded;
};

/// The inputs of an authorizer's factory. The factory throws std::runtime_error if the options are invalid.
struct AuthorizerInputs {
  const AuthorizerConfig& config;  // configuration of this authorizer
  const AuthorizationOptions& options;
  const AuthorizationState& state;
  const Clock& clock;
  service::Metrics& metrics;

  /// The options that the authorizer's folder declares.
  template <class Flags>
  const Flags& Get() const {
    return options.extensions.Get<Flags>();
  }
};

}  // namespace apimesh::authn_authz
