#pragma once

// For tests only: a mesh CA and certificates signed by it, written as PEM files.

#include <filesystem>
#include <fstream>
#include <string>

#include "lib/http/test_certificates.h"

namespace apimesh::mesh {

class TestAuthority {
 public:
  void WriteCa(const std::filesystem::path& file) const { std::ofstream(file) << ca_.certificate_pem; }
  /// A certificate for localhost and 127.0.0.1, for servers and clients, with the mesh identity of the process `name`.
  void WritePair(const std::filesystem::path& cert, const std::filesystem::path& key, const std::string& name) const {
    const http::TestCertificate made = http::MakeCertificate(
        {.common_name = name, .dns_names = {"localhost"}, .ip = "127.0.0.1", .uri = "spiffe://apimesh/" + name}, &ca_);
    std::ofstream(cert) << made.certificate_pem;
    std::ofstream(key) << made.key_pem;
  }

 private:
  const http::TestCertificate ca_ = http::MakeCertificate({.common_name = "mesh-ca", .is_ca = true});
};

}  // namespace apimesh::mesh
