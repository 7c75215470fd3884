#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/api_error.h"

/// Certificates and certificate signing requests in PEM, as clients send them to certificates.k8s.io.
namespace apimesh::auth {

/// What decides about a PKCS #10 request: who it is for.
struct CertificateRequest {
  std::string common_name;  // the user, once it is a client certificate; of several, the last one, as in Go
  std::vector<std::string> organizations;  // the groups
};

/// Reads a text with one CERTIFICATE REQUEST block. Other text may stand before and after the block. A text with a second
/// block is refused, so that no signer can read another block than this function does. The signature is not checked.
meta::Result<CertificateRequest> ParseCertificateRequest(std::string_view pem);
/// The same, and whether the request is signed by its own key.
meta::Result<> VerifyCertificateRequest(std::string_view pem);

/// Whether the text consists of CERTIFICATE blocks, at least one, and text outside of them.
meta::Result<> CheckCertificates(std::string_view pem);

}  // namespace apimesh::auth
