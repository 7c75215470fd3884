#pragma once

#include <string>
#include <vector>

namespace apimesh::authn_authz::fake {

struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations = {};
  std::vector<std::string> uids = {};
  std::string usage = {};       // "clientAuth", "serverAuth", …; "": no limit
  bool is_ca = false;
  long valid_from = -3600;      // seconds from now
  long valid_until = 3600;
};
struct Certificate {
  std::string der, pem, key_pem;
};
/// Signed by `issuer`, or by itself. For tests.
Certificate MakeCertificate(const CertificateRequest& request, const Certificate* issuer = nullptr);

}  // namespace apimesh::authn_authz::fake
