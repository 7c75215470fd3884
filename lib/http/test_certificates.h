#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/http/server.h"

namespace apimesh::http {

/// Generated certificates for the tests of all folders: ECDSA P-256.
struct TestCertificate {
  std::string certificate_pem;
  std::string key_pem;
  std::string certificate_der;
};
struct TestCertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations = {};
  std::vector<std::string> dns_names = {};
  std::string ip = {};
  std::string uri = {};
  std::vector<std::string> uids = {};  // values of the attribute in which Kubernetes puts the uid of a user
  std::string usage = {};              // "clientAuth", "serverAuth", …; "": no limit
  bool is_ca = false;
  long valid_from = -3600;  // seconds from now
  long valid_until = 24 * 3600;
};
/// Signed by `issuer`, or self-signed.
TestCertificate MakeCertificate(const TestCertificateRequest& request, const TestCertificate* issuer = nullptr);

/// Options of a TLS server on 127.0.0.1 at any free port. Creates `folder` and writes the certificate there.
ServerOptions TlsServerIn(const std::filesystem::path& folder);

}  // namespace apimesh::http
