#pragma once

#include "lib/cel/program.h"
#include "lib/service/metrics.h"
#include "lib/service/webhook/review_client.h"
#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

struct AuthorizationWebhookOptions {
  std::string version = "v1";  // version of SubjectAccessReview: v1 or v1beta1
  std::chrono::milliseconds authorized_ttl{300'000}, unauthorized_ttl{30'000};  // 0: not cached
  std::chrono::milliseconds timeout{30'000};
  bool deny_on_error = false;                  // failurePolicy Deny; otherwise NoOpinion
  std::vector<cel::Program> match_conditions;  // if one is false, the webhook is not called and has no opinion
};
/// Authorizes with a SubjectAccessReview that is sent to a webhook, and caches the answers. `name` and `metrics` (may
/// be nullptr) are used to count match conditions.
std::unique_ptr<Authorizer> NewAuthorizationWebhook(std::unique_ptr<service::ReviewClient> client,
                                                    AuthorizationWebhookOptions options, std::string name,
                                                    const Clock& clock, service::Metrics* metrics);

}  // namespace apimesh::authn_authz
