#pragma once

#include <optional>
#include <vector>

#include "lib/registry/resource.h"
#include "lib/service/auth_client.h"
#include "services/core-api/groups/authentication/token_request.h"

namespace apimesh::core_api {

/// What resources that store nothing need to do their work.
struct ActionInputs {
  service::AuthClientPtr auth;
  std::optional<TokenIssuer> issuer;  // nullopt: no tokens
  ReadObject read;
};
/// Gives the reviews and serviceaccounts/token their actions.
void AddActions(std::vector<registry::Resource>& resources, const ActionInputs& inputs);

}  // namespace apimesh::core_api
