#pragma once

#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/inputs.h"
#include "services/authn-authz/authenticators/requestheader/flags.h"
#include "services/authn-authz/authenticators/x509/verifier.h"

namespace apimesh::authn_authz {

struct RequestHeaderOptions {
  std::vector<std::string> username_headers, uid_headers, group_headers, extra_header_prefixes;
  std::vector<std::string> allowed_names;  // common names of front proxies; empty: any certificate of the CA
};
/// Trusts the identity headers of a front proxy that has a certificate of the configured CA. The headers of other
/// clients are not trusted.
std::unique_ptr<Authenticator> NewRequestHeader(std::shared_ptr<CertificateVerifier> verifier,
                                                RequestHeaderOptions options);

/// Factory for chain.cc. It requires --requestheader-client-ca-file.
std::unique_ptr<Authenticator> MakeRequestHeader(const AuthenticatorInputs& inputs);

}  // namespace apimesh::authn_authz
