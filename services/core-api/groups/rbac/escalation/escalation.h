#pragma once

#include "lib/service/auth_client.h"
#include "services/core-api/groups/authentication/token_request.h"
#include "services/core-api/resources/serve.h"

namespace apimesh::core_api {

/// Nobody gives rights away that they do not have: who writes a role must hold all its rules or be allowed to `escalate` it;
/// who writes a binding must hold all rules of its role or be allowed to `bind` it. Members of system:masters may do all.
ChecksByResource EscalationChecks(service::AuthClientPtr auth, ReadObject read);

}  // namespace apimesh::core_api
