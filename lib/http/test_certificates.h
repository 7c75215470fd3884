#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/http/server.h"

namespace apimesh::http {

/// Certificates made on the spot for tests; ECDSA P-256, valid for a day.
struct TestCertificate {
  std::string certificate_pem;
  std::string key_pem;
};
struct TestCertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations = {};
  std::vector<std::string> dns_names = {};
  std::string ip = {};
  std::string uri = {};
  bool is_ca = false;
};
/// Signed by `issuer`, or by itself.
TestCertificate MakeCertificate(const TestCertificateRequest& request, const TestCertificate* issuer = nullptr);

/// A TLS server for 127.0.0.1 at any free port; its certificate lies in `folder`, which is made.
ServerOptions TlsServerIn(const std::filesystem::path& folder);

}  // namespace apimesh::http
