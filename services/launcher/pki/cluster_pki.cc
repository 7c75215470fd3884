#include "services/launcher/pki/cluster_pki.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "services/launcher/pki/certificate.h"

namespace apimesh::launcher {
namespace {

constexpr std::chrono::hours kAuthorityLifetime{24 * 3650};
constexpr double kRenewBelow = 1.0 / 3;

/// The names under which every cluster knows its API server.
const std::vector<std::string> kServiceNames = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                                                "kubernetes.default.svc.cluster.local"};

bool IsIp(const std::string& text) {
  unsigned char buffer[16];
  return inet_pton(AF_INET, text.c_str(), buffer) == 1 || inet_pton(AF_INET6, text.c_str(), buffer) == 1;
}

CertificateRequest ServingRequest(const std::vector<std::string>& addresses) {
  CertificateRequest request{.common_name = "kube-apiserver", .dns_names = kServiceNames, .ip_addresses = {"127.0.0.1", "::1"},
                             .server_auth = true};
  for (const std::string& address : addresses) {
    std::vector<std::string>& list = IsIp(address) ? request.ip_addresses : request.dns_names;
    if (!address.empty() && std::find(list.begin(), list.end(), address) == list.end()) list.push_back(address);
  }
  return request;
}

}  // namespace

void WriteFile(const std::filesystem::path& path, const std::string& text, bool secret) {
  const std::string temporary = path.string() + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, secret ? 0600 : 0644);
  if (file < 0) throw std::runtime_error(fmt::format("can't write {}: {}", path.string(), std::strerror(errno)));
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = ::write(file, left.data(), left.size());
    if (written < 0) {
      ::close(file);
      throw std::runtime_error(fmt::format("can't write {}: {}", path.string(), std::strerror(errno)));
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  ::close(file);
  std::filesystem::rename(temporary, path);
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> ClusterPki::Ensure(const std::vector<std::string>& extra_addresses) const {
  std::filesystem::create_directories(folder_);
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  std::vector<std::string> written;

  const auto authority = [&](const std::string& file, const std::string& name) {
    CertifiedKey pair{ReadFile(Path(file + ".crt")), ReadFile(Path(file + ".key"))};
    if (!pair.certificate_pem.empty() && !pair.key_pem.empty()) return pair;
    pair = NewAuthority(name, kAuthorityLifetime);
    WriteFile(Path(file + ".key"), pair.key_pem, true);
    WriteFile(Path(file + ".crt"), pair.certificate_pem, false);
    written.push_back(file);
    return pair;
  };
  const auto leaf = [&](const std::string& file, const CertificateRequest& request, const CertifiedKey& signer) {
    if (RemainingLife(ReadFile(Path(file + ".crt"))) > kRenewBelow && !ReadFile(Path(file + ".key")).empty()) return;
    const CertifiedKey pair = NewCertificate(request, signer);
    WriteFile(Path(file + ".key"), pair.key_pem, true);
    WriteFile(Path(file + ".crt"), pair.certificate_pem, false);
    written.push_back(file);
  };

  const CertifiedKey cluster = authority("ca", "kubernetes");
  const CertifiedKey front_proxy = authority("front-proxy-ca", "front-proxy-ca");
  const CertifiedKey mesh = authority("mesh-ca", "apimesh-mesh-ca");
  leaf("apiserver", ServingRequest(extra_addresses), cluster);
  leaf("admin", {.common_name = "kubernetes-admin", .organizations = {"system:masters"}, .client_auth = true}, cluster);
  leaf("front-proxy-client", {.common_name = "front-proxy-client", .client_auth = true}, front_proxy);
  CertificateRequest member = ServingRequest(extra_addresses);
  member.common_name = "apimesh";
  member.client_auth = true;
  leaf("mesh", member, mesh);
  leaf("envoy", {.common_name = "apimesh-envoy", .client_auth = true}, mesh);
  if (ReadFile(Path("sa.key")).empty()) {
    const KeyPair pair = NewKeyPair();
    WriteFile(Path("sa.key"), pair.private_pem, true);
    WriteFile(Path("sa.pub"), pair.public_pem, false);
    written.push_back("sa");
  }
  return written;
}

std::pair<std::string, std::string> EnsureSelfSigned(const std::filesystem::path& folder, const std::vector<std::string>& addresses) {
  const std::filesystem::path certificate = folder / "apiserver.crt", key = folder / "apiserver.key";
  if (ReadFile(key).empty() || RemainingLife(ReadFile(certificate)) <= 0) {
    std::filesystem::create_directories(folder);
    const CertifiedKey pair = NewSelfSigned(ServingRequest(addresses));
    WriteFile(key, pair.key_pem, true);
    WriteFile(certificate, pair.certificate_pem, false);
  }
  return {certificate.string(), key.string()};
}

}  // namespace apimesh::launcher
