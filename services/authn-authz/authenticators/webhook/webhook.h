#pragma once

#include "lib/service/webhook/review_client.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/inputs.h"
#include "services/authn-authz/authenticators/webhook/flags.h"

namespace apimesh::authn_authz {

/// Authenticates tokens with a TokenReview of `version` (v1 or v1beta1), which is sent to a webhook. If the webhook
/// returns no audiences, `api_audiences` are assumed.
std::unique_ptr<TokenAuthenticator> NewTokenWebhook(std::unique_ptr<service::ReviewClient> client, std::string version,
                                                    std::vector<std::string> api_audiences, const Clock& clock);

/// Factory for chain.cc: the webhook of --authentication-token-webhook-config-file, with its own cache.
std::unique_ptr<TokenAuthenticator> MakeTokenWebhook(const AuthenticatorInputs& inputs);

}  // namespace apimesh::authn_authz
