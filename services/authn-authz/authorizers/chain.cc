#include "services/authn-authz/authorizers/chain.h"

#include <stdexcept>

#include "services/authn-authz/authorizers/abac/abac.h"
#include "services/authn-authz/authorizers/always/always.h"
#include "services/authn-authz/authorizers/counted/counted.h"
#include "services/authn-authz/authorizers/node/node.h"
#include "services/authn-authz/authorizers/rbac/rbac.h"
#include "services/authn-authz/authorizers/union.h"
#include "services/authn-authz/config/file.h"

namespace apimesh::authn_authz {
namespace {

std::unique_ptr<Authorizer> FromPolicyFile(const AuthorizationOptions& options) {
  if (options.policy_file.empty()) {
    throw std::runtime_error("authorization-mode ABAC's authorization policy file not passed");
  }
  const auto text = ReadFile(options.policy_file);
  if (!text) throw std::runtime_error(text.error().Message());
  auto policies = ParseAbacFile(*text, options.policy_file);
  if (!policies) throw std::runtime_error(policies.error().Message());
  return NewAbac(std::move(*policies));
}

std::unique_ptr<Authorizer> Webhook(const AuthorizerConfig& config, const Clock& clock, service::Metrics& metrics) {
  auto endpoint = ReadKubeconfig(config.kubeconfig);
  if (!endpoint) throw std::runtime_error(endpoint.error().Message());
  return NewAuthorizationWebhook(NewReviewClient(std::move(*endpoint)), config.webhook, config.name, clock, &metrics);
}

}  // namespace

bool HasMode(const std::vector<AuthorizerConfig>& configs, std::string_view mode) {
  return std::any_of(configs.begin(), configs.end(), [&](const AuthorizerConfig& config) { return config.type == mode; });
}

std::unique_ptr<Authorizer> BuildAuthorizerChain(const std::vector<AuthorizerConfig>& configs,
                                                 const AuthorizationOptions& options, AuthorizerInputs inputs,
                                                 const Clock& clock, service::Metrics& metrics) {
  if (configs.empty()) throw std::runtime_error("at least one authorization-mode must be passed");
  std::vector<std::unique_ptr<Authorizer>> parts;
  parts.push_back(NewPrivilegedGroup("system:masters"));
  for (const AuthorizerConfig& config : configs) {
    const std::string& mode = config.type;
    std::unique_ptr<Authorizer> part;
    if (mode == "AlwaysAllow")
      part = NewAlwaysAllow();
    else if (mode == "AlwaysDeny")
      part = NewAlwaysDeny();
    else if (mode == "ABAC")
      part = FromPolicyFile(options);
    else if (mode == "RBAC")
      part = NewRbac(inputs.rbac, inputs.loaded);
    else if (mode == "Node")
      part = NewNodeAuthorizer(inputs.graph);
    else if (mode == "Webhook")
      part = Webhook(config, clock, metrics);
    else throw std::runtime_error(fmt::format("authorization-mode \"{}\" is not a valid mode", mode));
    parts.push_back(NewCounted(std::move(part), mode, config.name, metrics));
  }
  return NewAuthorizerUnion(std::move(parts));
}

}  // namespace apimesh::authn_authz
