#pragma once

#include <string>
#include <vector>

struct ssl_ctx_st;

namespace apimesh::net {

/// The URIs among the subject alternative names of a certificate in DER. Empty if it has none or cannot be parsed.
std::vector<std::string> CertificateUris(const std::string& certificate_der);

/// Makes every handshake with `context` fail unless the peer's certificate is valid and has at least one of `uris`
/// among its subject alternative names. `mode` is that of SSL_CTX_set_verify.
void RequirePeerUri(ssl_ctx_st* context, int mode, std::vector<std::string> uris);

}  // namespace apimesh::net
