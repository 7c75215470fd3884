#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "services/launcher/pki/certificate.h"

namespace apimesh::launcher {

/// Writes a file atomically, through a temporary file. `secret`: mode 0600, otherwise 0644. Throws std::runtime_error.
void WriteFile(const std::filesystem::path& path, std::string_view text, bool secret);
/// Returns the contents of a file; empty if it does not exist.
std::string ReadFile(const std::filesystem::path& path);
/// Returns whether a file exists and is not empty.
bool HasContents(const std::filesystem::path& path);

/// Returns the certificates NAME.crt in a folder, in the order of their names; none if the folder does not exist.
std::vector<std::filesystem::path> CertificatesIn(const std::filesystem::path& folder);

/// Returns the request for a serving certificate: loopback, the names of the API server in every cluster, and
/// `addresses`.
CertificateRequest ServingRequest(const std::vector<std::string>& addresses);

/// A folder (0700) of certificates NAME.crt and keys NAME.key (0600). Methods throw std::runtime_error.
class CertificateFolder {
 public:
  enum class Renew { kOld, kAll };  // which certificates Leaf() replaces; kOld: those at the end of their life
  explicit CertificateFolder(std::filesystem::path folder, Renew renew = Renew::kOld);

  /// Returns the authority of this name, which is created if missing. It is never replaced, because clients hold its
  /// certificate.
  CertifiedKey Authority(const std::string& file, const std::string& common_name);
  /// Creates the certificate if it is missing or has less than a third of its lifetime left, or if all are renewed.
  void Leaf(const std::string& file, const CertificateRequest& request, const CertifiedKey& signer);
  /// Copies a file into this folder under the same name, if it differs.
  void Copy(const std::filesystem::path& from, bool secret);
  /// Adds `name` to Written().
  void Note(std::string name) { written_.push_back(std::move(name)); }
  const std::vector<std::string>& Written() const { return written_; }

 private:
  void Write(const std::string& file, const CertifiedKey& pair);

  std::filesystem::path folder_;
  const Renew renew_;
  std::vector<std::string> written_;
};

}  // namespace apimesh::launcher
