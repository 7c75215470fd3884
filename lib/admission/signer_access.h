#pragma once

#include <string>

#include "lib/base/async/task.h"
#include "lib/meta/request/request_context.h"
#include "lib/service/auth_client.h"

namespace apimesh::admission {

/// Returns whether the user of the request may perform the verb ("approve", "sign", "attest") on the resource "signers"
/// with the name of the signer, or on all signers of its domain ("example.com/*"). Errors of the authorizer and a
/// missing authorizer count as a denial, as in kube-apiserver.
Task<bool> MayUseSigner(service::AuthClientPtr authorizer, meta::RequestContext ctx, std::string verb,
                        std::string signer);

}  // namespace apimesh::admission
