#include "services/authn-authz/authorizers/webhook/make.h"

#include "services/authn-authz/authorizers/webhook/webhook.h"
#include "services/authn-authz/config/or_throw.h"

namespace apimesh::authn_authz {

std::unique_ptr<Authorizer> MakeAuthorizationWebhook(const AuthorizerInputs& inputs) {
  auto client = service::NewReviewClient(OrThrow(service::ReadKubeconfig(inputs.config.kubeconfig)), inputs.clock);
  return NewAuthorizationWebhook(std::move(client), inputs.config.webhook, inputs.config.name, inputs.clock,
                                 &inputs.metrics);
}

}  // namespace apimesh::authn_authz
