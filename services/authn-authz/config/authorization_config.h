#pragma once

#include <set>

#include "services/authn-authz/authorizers/webhook/webhook.h"
#include "services/authn-authz/config/options.h"

namespace apimesh::authn_authz {

/// One link of the chain.
struct AuthorizerConfig {
  std::string type;  // "RBAC", "Node", "ABAC", "Webhook", "AlwaysAllow" or "AlwaysDeny"
  std::string name;  // for metrics; of a webhook free, of others their type in lower case
  AuthorizationWebhookOptions webhook;
  std::string kubeconfig;  // of a webhook
};
/// From --authorization-config, or else from the flags. The error names all that is wrong, in the reference's words.
meta::Result<std::vector<AuthorizerConfig>> LoadAuthorizationConfig(const AuthorizationOptions& options);
/// `required_types`: which the file may not leave out, when it is read again while running.
meta::Result<std::vector<AuthorizerConfig>> ParseAuthorizationConfig(std::string_view text,
                                                                     const std::set<std::string>& required_types = {});

}  // namespace apimesh::authn_authz
