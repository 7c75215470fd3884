#include "services/launcher/commands/pki.h"

#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "services/launcher/commands/kubeconfig.h"
#include "services/launcher/mesh/envoy_config.h"
#include "services/launcher/pki/cluster_pki.h"
#include "services/launcher/pki/mesh_pki.h"

namespace apimesh::launcher {
namespace {

/// Returns the host of "https://host:port".
std::string HostOf(const std::string& url) {
  const std::size_t begin = url.find("://") == std::string::npos ? 0 : url.find("://") + 3;
  return url.substr(begin, url.find_first_of(":/", begin) - begin);
}

/// Writes Envoy's configuration into `folder`. Envoy reads its certificates from `certificates`, and the files of the
/// configuration from `seen_folder`.
void WriteEnvoy(const PkiOptions& options, const std::filesystem::path& folder, const std::string& seen_folder,
                const ClusterPki& certificates) {
  const EnvoyOptions envoy{.port = 6443,
                           .secrets_folder = seen_folder,
                           .cert_file = certificates.Path("apiserver.crt"),
                           .key_file = certificates.Path("apiserver.key"),
                           .client_ca_file = certificates.Path("ca.crt"),
                           .aggregator = options.aggregator + ":8443",
                           .aggregator_watches = options.aggregator + ":8443",
                           .mesh_ca_file = certificates.Path("mesh-ca.crt"),
                           .mesh_cert_file = certificates.Path("mesh.crt"),
                           .mesh_key_file = certificates.Path("mesh.key"),
                           .access_log = "/dev/stdout",
                           .ext_authz = options.ext_authz};
  WriteFile(folder / "envoy.json", EnvoyConfig(envoy), false);
  for (const auto& [name, text] : EnvoySecrets(envoy)) WriteFile(folder / name, text, false);
}

}  // namespace

int MakePki(const PkiOptions& options) {
  try {
    if (options.envoy_only) {
      if (options.mounted_at.empty())
        throw std::runtime_error("--envoy-only needs --mounted-at, the folder of the certificates");
      WriteEnvoy(options, options.folder, std::filesystem::absolute(options.folder), ClusterPki(options.mounted_at));
      return 0;
    }
    const ClusterPki pki(options.folder);
    std::vector<std::string> names = options.names;
    names.push_back(HostOf(options.server));
    for (const std::string& written : pki.Ensure(names)) fmt::print("wrote {}\n", written);
    for (const std::string& written : EnsureMeshPki(pki, names)) fmt::print("wrote {}\n", written);
    WriteKubeconfig(pki.Path("kubeconfig"), options.server, pki);
    const ClusterPki seen(options.mounted_at.empty() ? pki.Path("envoy") : options.mounted_at);
    WriteEnvoy(options, pki.Folder() / "envoy", seen.Folder().string(), seen);
    if (options.owner >= 0) {
      const auto give = [&](const std::filesystem::path& path) {
        if (::chown(path.c_str(), static_cast<uid_t>(options.owner), static_cast<gid_t>(-1)) != 0)
          throw std::runtime_error("chown " + path.string() + " failed");
      };
      give(options.folder);
      for (const auto& entry : std::filesystem::recursive_directory_iterator(options.folder)) give(entry.path());
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "apimesh: {}\n", error.what());
    return 1;
  }
}

}  // namespace apimesh::launcher
