#pragma once

#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/config/webhook.h"

namespace apimesh::authn_authz {

/// Asks a webhook with a TokenReview of `version` (v1 or v1beta1). A webhook that does not speak of audiences is taken to
/// mean `api_audiences`.
std::unique_ptr<TokenAuthenticator> NewTokenWebhook(std::unique_ptr<ReviewClient> client, std::string version,
                                                    std::vector<std::string> api_audiences);

}  // namespace apimesh::authn_authz
