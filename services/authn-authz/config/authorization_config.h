#pragma once

#include <set>

#include "services/authn-authz/authorizers/webhook/webhook.h"
#include "services/authn-authz/config/options.h"

namespace apimesh::authn_authz {

/// The configuration of one authorizer of the chain.
struct AuthorizerConfig {
  std::string type;  // a mode of authorizers/authorizers.inc
  std::string name;  // for metrics; configurable for webhooks, otherwise the type in lower case
  AuthorizationWebhookOptions webhook;
  std::string kubeconfig;  // for a webhook
};
/// Reads --authorization-config, or else the flags. The error names everything that is invalid, with the texts of
/// kube-apiserver.
meta::Result<std::vector<AuthorizerConfig>> LoadAuthorizationConfig(const AuthorizationOptions& options);
/// `required_types` are the types that the file must still contain when it is reloaded.
meta::Result<std::vector<AuthorizerConfig>> ParseAuthorizationConfig(std::string_view text,
                                                                     const std::set<std::string>& required_types = {});

}  // namespace apimesh::authn_authz
