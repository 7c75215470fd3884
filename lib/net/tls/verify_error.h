#pragma once

#include <string>

#include "lib/base/clock.h"

struct ssl_ctx_st;
struct ssl_st;

namespace apimesh::net {

/// Verifies the certificates of servers in all sessions of `context`, so that DescribeVerifyError() can tell why one
/// was refused. As in Go, every certificate of the bundle is trusted, not only self-signed ones.
void VerifyServers(ssl_ctx_st* context);

/// Returns why the certificate of the server was refused, in the words of Go's crypto/x509, which kube-apiserver
/// reports for webhooks: "failed to verify certificate: x509: …". Returns "" if no certificate was refused, or if its
/// context verifies in another way.
std::string DescribeVerifyError(const ssl_st* ssl, WallTime now);

}  // namespace apimesh::net
