#pragma once

#include "services/authn-authz/authorizers/authorizer.h"
#include "services/authn-authz/config/webhook.h"

namespace apimesh::authn_authz {

struct AuthorizationWebhookOptions {
  std::string version = "v1";  // of SubjectAccessReview: v1 or v1beta1
  std::chrono::milliseconds authorized_ttl{300'000}, unauthorized_ttl{30'000};  // 0: not kept
  std::chrono::milliseconds timeout{30'000};
  bool deny_on_error = false;  // failurePolicy Deny; otherwise NoOpinion
};
/// Asks a webhook with a SubjectAccessReview and keeps its answers for a while.
std::unique_ptr<Authorizer> NewAuthorizationWebhook(std::unique_ptr<ReviewClient> client, AuthorizationWebhookOptions options,
                                                    const Clock& clock);

}  // namespace apimesh::authn_authz
