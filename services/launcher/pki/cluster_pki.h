#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher {

/// The files that every cluster has, under one folder: two authorities (cluster and front proxy), what they signed, and
/// the key pair of service-account tokens. Private keys are 0600.
class ClusterPki {
 public:
  explicit ClusterPki(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Makes what is missing and renews what has less than a third of its life left. Authorities are never replaced:
  /// clients hold them. `extra_addresses` are names and addresses besides loopback. Returns the names of what was written. Throws std::runtime_error.
  std::vector<std::string> Ensure(const std::vector<std::string>& extra_addresses) const;

  std::string Path(const std::string& file) const { return (folder_ / file).string(); }
  const std::filesystem::path& Folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// apimesh's own certificate for kube-apiserver without --tls-cert-file: the pair in `folder`, made if missing or expired.
/// Returns {certificate file, key file}.
std::pair<std::string, std::string> EnsureSelfSigned(const std::filesystem::path& folder, const std::vector<std::string>& addresses);

}  // namespace apimesh::launcher
