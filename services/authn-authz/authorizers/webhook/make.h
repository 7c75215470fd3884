#pragma once

#include "services/authn-authz/authorizers/inputs.h"
#include "services/authn-authz/authorizers/webhook/flags.h"

namespace apimesh::authn_authz {

/// Factory for chain.cc: a webhook from the flags or the configuration file.
std::unique_ptr<Authorizer> MakeAuthorizationWebhook(const AuthorizerInputs& inputs);

}  // namespace apimesh::authn_authz
