#pragma once

#include <optional>
#include <vector>

#include "lib/registry/resource.h"
#include "lib/service/auth_client.h"
#include "services/core-api/connect/kubelets.h"
#include "services/core-api/groups/authentication/token_request.h"
#include "services/core-api/groups/core/pod/eviction/eviction.h"
#include "services/core-api/resources/serve.h"

namespace apimesh::core_api {

/// What resources that store nothing need to do their work.
struct ActionInputs {
  service::AuthClientPtr auth;
  std::optional<TokenIssuer> issuer;  // nullopt: no tokens
  ReadObject read;
  SendObject send;
  storage::StorePtr pods;
  KubeletsPtr kubelets;
};
/// Gives the reviews, bindings, evictions and serviceaccounts/token their actions.
void AddActions(std::vector<registry::Resource>& resources, const ActionInputs& inputs);
/// The subresources of pods, services and nodes that lead to other servers.
Connectors MakeConnectors(const ActionInputs& inputs);

}  // namespace apimesh::core_api
