#pragma once

#include "lib/endpoint/group_server.h"
#include "services/core-api/flags.h"

namespace apimesh::core_api {

/// Serves /.well-known/openid-configuration and /openid/v1/jwks, by which others verify our service-account tokens. Does
/// nothing, with a line in the log, if the issuer is no https URL.
void AddOpenIdPaths(const Flags& flags, endpoint::GroupServerOptions& options);

}  // namespace apimesh::core_api
