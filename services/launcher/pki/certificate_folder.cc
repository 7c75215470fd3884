#include "services/launcher/pki/certificate_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/private_folder.h"
#include "lib/base/secrets/secret_file.h"
#include "services/launcher/flags/flag_value.h"

namespace apimesh::launcher {
namespace {

constexpr std::chrono::hours kAuthorityLifetime{24 * 3650};
constexpr double kRenewBelow = 1.0 / 3;

/// The names of the API server in every cluster.
const std::vector<std::string> kServiceNames = {"localhost", "kubernetes", "kubernetes.default",
                                                "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"};

}  // namespace

CertificateRequest ServingRequest(const std::vector<std::string>& addresses) {
  CertificateRequest request{.common_name = "kube-apiserver",
                             .dns_names = kServiceNames,
                             .ip_addresses = {"127.0.0.1", "::1"},
                             .server_auth = true};
  for (const std::string& address : addresses) {
    std::vector<std::string>& list = IsIp(address) ? request.ip_addresses : request.dns_names;
    if (!address.empty() && std::find(list.begin(), list.end(), address) == list.end()) list.push_back(address);
  }
  return request;
}

void WriteFile(const std::filesystem::path& path, std::string_view text, bool secret) {
  const std::string temporary = path.string() + ".new";
  ::unlink(temporary.c_str());  // a file left by a crash may have another mode
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, secret ? 0600 : 0644);
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

std::string ReadFile(const std::filesystem::path& path) { return apimesh::ReadFile(path).value_or(""); }
bool HasContents(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return !error && size > 0;
}

std::vector<std::filesystem::path> CertificatesIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".crt") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

CertificateFolder::CertificateFolder(std::filesystem::path folder, Renew renew)
    : folder_(std::move(folder)), renew_(renew) {
  MakePrivateFolder(folder_);
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
}

CertifiedKey CertificateFolder::Authority(const std::string& file, const std::string& common_name) {
  CertifiedKey pair{ReadFile(folder_ / (file + ".crt")), ReadFile(folder_ / (file + ".key"))};
  if (!pair.certificate_pem.empty() && !pair.key_pem.empty()) return pair;
  pair = NewAuthority(common_name, kAuthorityLifetime);
  Write(file, pair);
  return pair;
}

void CertificateFolder::Leaf(const std::string& file, const CertificateRequest& request, const CertifiedKey& signer) {
  const bool fresh = RemainingLife(ReadFile(folder_ / (file + ".crt"))) > kRenewBelow;
  if (renew_ == Renew::kOld && fresh && HasContents(folder_ / (file + ".key"))) return;
  Write(file, NewCertificate(request, signer));
}

void CertificateFolder::Copy(const std::filesystem::path& from, bool secret) {
  const std::optional<SecretBytes> text = ReadSecretFile(from);
  const std::filesystem::path to = folder_ / from.filename();
  const std::optional<SecretBytes> old = ReadSecretFile(to);
  const std::string_view wanted = text ? text->View() : std::string_view();
  if ((old ? old->View() : std::string_view()) == wanted) return;
  WriteFile(to, wanted, secret);
  Note(from.filename());
}

void CertificateFolder::Write(const std::string& file, const CertifiedKey& pair) {
  WriteFile(folder_ / (file + ".key"), pair.key_pem, true);
  WriteFile(folder_ / (file + ".crt"), pair.certificate_pem, false);
  Note(file);
}

}  // namespace apimesh::launcher
