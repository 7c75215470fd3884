#pragma once

#include "lib/cel/program.h"
#include "lib/service/metrics.h"
#include "services/authn-authz/authorizers/authorizer.h"
#include "services/authn-authz/config/webhook.h"

namespace apimesh::authn_authz {

struct AuthorizationWebhookOptions {
  std::string version = "v1";  // of SubjectAccessReview: v1 or v1beta1
  std::chrono::milliseconds authorized_ttl{300'000}, unauthorized_ttl{30'000};  // 0: not kept
  std::chrono::milliseconds timeout{30'000};
  bool deny_on_error = false;  // failurePolicy Deny; otherwise NoOpinion
  std::vector<cel::Program> match_conditions;  // only requests for which all are true are sent; others get no opinion
};
/// Asks a webhook with a SubjectAccessReview and keeps its answers for a while.
/// `name` and `metrics` (may be null) are for counting match conditions.
std::unique_ptr<Authorizer> NewAuthorizationWebhook(std::unique_ptr<ReviewClient> client,
                                                    AuthorizationWebhookOptions options, std::string name,
                                                    const Clock& clock, service::Metrics* metrics);

}  // namespace apimesh::authn_authz
