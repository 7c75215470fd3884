#include "services/launcher/commands/kubeconfig.h"

#include <fmt/format.h>

#include "lib/base/text/base64.h"

namespace apimesh::launcher {
namespace {}  // namespace

void WriteKubeconfig(const std::string& path, const std::string& server, const ClusterPki& pki) {
  const auto data = [&](const char* file) { return EncodeBase64(ReadFile(pki.Path(file))); };
  WriteFile(path,
            fmt::format("apiVersion: v1\n"
                        "kind: Config\n"
                        "current-context: apimesh\n"
                        "contexts:\n"
                        "- name: apimesh\n"
                        "  context: {{cluster: apimesh, user: admin}}\n"
                        "clusters:\n"
                        "- name: apimesh\n"
                        "  cluster:\n"
                        "    server: {}\n"
                        "    certificate-authority-data: {}\n"
                        "users:\n"
                        "- name: admin\n"
                        "  user:\n"
                        "    client-certificate-data: {}\n"
                        "    client-key-data: {}\n",
                        server, data("ca.crt"), data("admin.crt"), data("admin.key")),
            true);
}

}  // namespace apimesh::launcher
