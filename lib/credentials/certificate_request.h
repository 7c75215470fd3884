#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/errors/api_error.h"

/// Certificates and certificate signing requests in PEM, as clients of certificates.k8s.io send them.
namespace apimesh::credentials {

/// The subject of a PKCS #10 request.
struct CertificateRequest {
  std::string common_name;  // the user of a client certificate; if there are several names, the last one, as in Go
  std::vector<std::string> organizations;  // the groups
};

/// Parses a text with exactly one PEM block of type CERTIFICATE REQUEST. There may be other text before and after the
/// block. A second block is rejected, so that no signer can read a different block than this function. The signature is
/// not checked.
meta::Result<CertificateRequest> ParseCertificateRequest(std::string_view pem);
/// Checks that the text has exactly one well-formed request and that the request is signed by its own key.
meta::Result<> VerifyCertificateRequest(std::string_view pem);
/// The same for a request in DER.
meta::Result<> VerifyCertificateRequestDer(std::string_view der);

/// Checks that the text contains at least one CERTIFICATE block and no other blocks. Text outside of blocks is allowed.
meta::Result<> CheckCertificates(std::string_view pem);

/// Returns what kube-apiserver reports about the trust anchors of a ClusterTrustBundle: each block must be the
/// certificate of a CA, and no certificate may occur twice. Empty if there is at least one and all are good.
std::vector<std::string> CheckTrustAnchors(std::string_view pem);

}  // namespace apimesh::credentials
