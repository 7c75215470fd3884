#include "services/authn-authz/authorizers/chain.h"

#include <set>
#include <stdexcept>

#include "services/authn-authz/authorizers/abac/abac.h"
#include "services/authn-authz/authorizers/always/always.h"
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

std::unique_ptr<Authorizer> Webhook(const AuthorizerConfig& config, const Clock& clock) {
  auto endpoint = ReadKubeconfig(config.kubeconfig);
  if (!endpoint) throw std::runtime_error(endpoint.error().Message());
  return NewAuthorizationWebhook(NewReviewClient(std::move(*endpoint)), config.webhook, clock);
}

}  // namespace

bool HasMode(const std::vector<AuthorizerConfig>& configs, std::string_view mode) {
  return std::any_of(configs.begin(), configs.end(), [&](const AuthorizerConfig& config) { return config.type == mode; });
}

std::unique_ptr<Authorizer> BuildAuthorizerChain(const std::vector<AuthorizerConfig>& configs,
                                                 const AuthorizationOptions& options, AuthorizerInputs inputs,
                                                 const Clock& clock) {
  if (configs.empty()) throw std::runtime_error("at least one authorization-mode must be passed");
  std::vector<std::unique_ptr<Authorizer>> parts;
  parts.push_back(NewPrivilegedGroup("system:masters"));
  std::set<std::string> seen;
  for (const AuthorizerConfig& config : configs) {
    const std::string& mode = config.type;
    if (mode != "Webhook" && !seen.insert(mode).second) {
      throw std::runtime_error(fmt::format("authorization-mode \"{}\" given twice", mode));
    }
    if (mode == "AlwaysAllow") parts.push_back(NewAlwaysAllow());
    else if (mode == "AlwaysDeny") parts.push_back(NewAlwaysDeny());
    else if (mode == "ABAC") parts.push_back(FromPolicyFile(options));
    else if (mode == "RBAC") parts.push_back(NewRbac(inputs.rbac, inputs.loaded));
    else if (mode == "Node") parts.push_back(NewNodeAuthorizer(inputs.graph));
    else if (mode == "Webhook") parts.push_back(Webhook(config, clock));
    else throw std::runtime_error(fmt::format("authorization-mode \"{}\" is not a valid mode", mode));
  }
  return NewAuthorizerUnion(std::move(parts));
}

}  // namespace apimesh::authn_authz
