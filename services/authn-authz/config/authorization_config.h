#pragma once

#include "services/authn-authz/authorizers/webhook/webhook.h"
#include "services/authn-authz/config/options.h"

namespace apimesh::authn_authz {

/// One link of the chain.
struct AuthorizerConfig {
  std::string type;  // "RBAC", "Node", "ABAC", "Webhook", "AlwaysAllow" or "AlwaysDeny"
  AuthorizationWebhookOptions webhook;
  std::string kubeconfig;  // of a webhook
};
/// From --authorization-config, or else from the flags.
meta::Result<std::vector<AuthorizerConfig>> LoadAuthorizationConfig(const AuthorizationOptions& options);
meta::Result<std::vector<AuthorizerConfig>> ParseAuthorizationConfig(std::string_view text);

}  // namespace apimesh::authn_authz
