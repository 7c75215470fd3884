#pragma once

#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authenticators/x509/verifier.h"

namespace apimesh::authn_authz {

struct RequestHeaderOptions {
  std::vector<std::string> username_headers, uid_headers, group_headers, extra_header_prefixes;
  std::vector<std::string> allowed_names;  // common names of the front proxy; empty: any the CA has signed
};
/// Believes the identity headers of a front proxy that shows a certificate of its own CA. From anybody else the headers
/// mean nothing.
std::unique_ptr<Authenticator> NewRequestHeader(std::shared_ptr<CertificateVerifier> verifier, RequestHeaderOptions options);

}  // namespace apimesh::authn_authz
