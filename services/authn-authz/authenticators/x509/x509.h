#pragma once

#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/x509/verifier.h"

namespace apimesh::authn_authz {

/// Client certificates: CN is the user, each O a group, the SHA-256 of the certificate its credential id.
std::unique_ptr<Authenticator> NewX509(std::shared_ptr<CertificateVerifier> verifier);

}  // namespace apimesh::authn_authz
