#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "services/launcher/pki/certificate.h"

namespace apimesh::launcher {

/// Writes a file by way of a temporary one, so that a reader never sees half of it.
void WriteFile(const std::filesystem::path& path, const std::string& text, bool secret);
/// Empty if there is none.
std::string ReadFile(const std::filesystem::path& path);

/// A server's certificate for loopback, the names under which every cluster knows its API server, and `addresses`.
CertificateRequest ServingRequest(const std::vector<std::string>& addresses);

/// A folder (0700) of certificates NAME.crt and keys NAME.key (0600). Methods throw std::runtime_error.
class CertificateFolder {
 public:
  explicit CertificateFolder(std::filesystem::path folder);

  /// The authority of this name, made if it is missing. It is never replaced, because clients hold its certificate.
  CertifiedKey Authority(const std::string& file, const std::string& common_name);
  /// Makes the certificate, if it is missing or has less than a third of its life left.
  void Leaf(const std::string& file, const CertificateRequest& request, const CertifiedKey& signer);
  /// Copies a file into this folder under the same name, if it differs.
  void Copy(const std::filesystem::path& from, bool secret);
  /// Counts `name` among what was written.
  void Note(std::string name) { written_.push_back(std::move(name)); }
  const std::vector<std::string>& Written() const { return written_; }

 private:
  void Write(const std::string& file, const CertifiedKey& pair);

  std::filesystem::path folder_;
  std::vector<std::string> written_;
};

}  // namespace apimesh::launcher
