#include "services/launcher/commands/kubeconfig.h"

#include <fmt/format.h>
#include <openssl/evp.h>

namespace apimesh::launcher {
namespace {

std::string Base64(const std::string& text) {
  std::string out(4 * ((text.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  return out;
}

}  // namespace

void WriteKubeconfig(const std::string& path, const std::string& server, const ClusterPki& pki) {
  const auto data = [&](const char* file) { return Base64(ReadFile(pki.Path(file))); };
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
