#include "services/launcher/pki/cluster_pki.h"

#include "services/launcher/pki/certificate.h"
#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher {

std::vector<std::string> ClusterPki::Ensure(const std::vector<std::string>& extra_addresses, Renew renew) const {
  CertificateFolder files(folder_, renew);
  const CertifiedKey cluster = files.Authority("ca", "kubernetes");
  const CertifiedKey front_proxy = files.Authority("front-proxy-ca", "front-proxy-ca");
  files.Leaf("apiserver", ServingRequest(extra_addresses), cluster);
  files.Leaf("admin", {.common_name = "kubernetes-admin", .organizations = {"system:masters"}, .client_auth = true},
             cluster);
  files.Leaf("front-proxy-client", {.common_name = "front-proxy-client", .client_auth = true}, front_proxy);
  if (!HasContents(Path("sa.key"))) {
    const KeyPair pair = NewKeyPair();
    WriteFile(Path("sa.key"), pair.private_pem, true);
    WriteFile(Path("sa.pub"), pair.public_pem, false);
    files.Note("sa");
  }
  return files.Written();
}

std::pair<std::string, std::string> EnsureSelfSigned(const std::filesystem::path& folder,
                                                     const std::vector<std::string>& addresses) {
  const std::filesystem::path certificate = folder / "apiserver.crt", key = folder / "apiserver.key";
  if (!HasContents(key) || RemainingLife(ReadFile(certificate)) <= 0) {
    std::filesystem::create_directories(folder);
    const CertifiedKey pair = NewSelfSigned(ServingRequest(addresses));
    WriteFile(key, pair.key_pem, true);
    WriteFile(certificate, pair.certificate_pem, false);
  }
  return {certificate.string(), key.string()};
}

}  // namespace apimesh::launcher
