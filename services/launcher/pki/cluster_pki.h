#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace apimesh::launcher {

/// The files of `apimesh up` under DIR/pki: three authorities (cluster, front-proxy, mesh), and what they signed.
/// Private keys are 0600.
class ClusterPki {
 public:
  explicit ClusterPki(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Makes what is missing and renews what has less than a third of its life left. Authorities are never replaced:
  /// clients hold them. `extra_addresses` are names and addresses besides loopback. Returns the names of what was written. Throws std::runtime_error.
  std::vector<std::string> Ensure(const std::vector<std::string>& extra_addresses) const;

  std::string Path(const std::string& file) const { return (folder_ / file).string(); }

 private:
  std::filesystem::path folder_;
};

/// Writes a file by way of a temporary one, so that a reader never sees half of it.
void WriteFile(const std::filesystem::path& path, const std::string& text, bool secret);
/// Empty if there is none.
std::string ReadFile(const std::filesystem::path& path);

/// apimesh's own certificate for kube-apiserver without --tls-cert-file: the pair in `folder`, made if missing or expired.
/// Returns {certificate file, key file}.
std::pair<std::string, std::string> EnsureSelfSigned(const std::filesystem::path& folder, const std::vector<std::string>& addresses);

}  // namespace apimesh::launcher
