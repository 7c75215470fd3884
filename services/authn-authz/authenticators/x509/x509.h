#pragma once

#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/inputs.h"
#include "services/authn-authz/authenticators/x509/verifier.h"

namespace apimesh::authn_authz {

/// Receives the end of the validity of every certificate that is verified.
using ObserveExpiry = std::function<void(WallTime not_after)>;

/// Authenticates client certificates. The CN is the user name, each O a group, and the SHA-256 of the certificate the
/// credential id. With `reads_uids`, the user has the UID of the certificate's subject.
std::unique_ptr<Authenticator> NewX509(std::shared_ptr<CertificateVerifier> verifier, bool reads_uids = true,
                                       ObserveExpiry observe = nullptr);

/// Factory for chain.cc. It requires --client-ca-file.
std::unique_ptr<Authenticator> MakeX509(const AuthenticatorInputs& inputs);

}  // namespace apimesh::authn_authz
