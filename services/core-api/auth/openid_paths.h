#pragma once

#include <memory>
#include <string>

#include "lib/endpoint/group_server.h"
#include "lib/externaljwt/signer.h"
#include "services/core-api/flags.h"

namespace apimesh::core_api {

/// Serves /.well-known/openid-configuration and /openid/v1/jwks, with which other parties verify the service-account
/// tokens of this server, which clients reach at `external_address` ("host:port"). Without --service-account-issuer it
/// does nothing. If the issuer is not an https URL, it logs a warning and serves neither path. With an external signer
/// (not nullptr) the documents follow its keys; this must be called before the signer is started.
void AddOpenIdPaths(const Flags& flags, std::string external_address,
                    const std::shared_ptr<externaljwt::Signer>& signer, endpoint::GroupServerOptions& options);

}  // namespace apimesh::core_api
