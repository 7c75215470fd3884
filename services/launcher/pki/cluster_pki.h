#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher {

/// The certificates and keys that every cluster has, in one folder: two authorities (cluster and front proxy), the
/// certificates they signed, and the key pair of service-account tokens. Private keys have mode 0600.
class ClusterPki {
 public:
  using Renew = CertificateFolder::Renew;
  explicit ClusterPki(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Creates missing files and renews certificates that have less than a third of their lifetime left. Authorities are
  /// never replaced, because clients hold them. `extra_addresses` are names and addresses in addition to loopback.
  /// Returns the names of the written files. Throws std::runtime_error.
  std::vector<std::string> Ensure(const std::vector<std::string>& extra_addresses, Renew renew = Renew::kOld) const;

  std::string Path(const std::string& file) const { return (folder_ / file).string(); }
  const std::filesystem::path& Folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// Returns the self-signed certificate for kube-apiserver without --tls-cert-file: the pair in `folder`, which is
/// created if missing or expired. The result is {certificate file, key file}.
std::pair<std::string, std::string> EnsureSelfSigned(const std::filesystem::path& folder,
                                                     const std::vector<std::string>& addresses);

}  // namespace apimesh::launcher
