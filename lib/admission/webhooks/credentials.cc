#include "lib/admission/webhooks/credentials.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/admission/manifests/static_manifests.h"
#include "lib/base/secrets/secret_file.h"
#include "lib/base/text/text.h"
#include "lib/codec/config_section.h"
#include "lib/meta/errors/field_error.h"
#include "lib/service/webhook/kubeconfig.h"

namespace apimesh::admission::webhooks {
namespace {

constexpr std::string_view kVersions[] = {"apiserver.config.k8s.io/v1"};
constexpr std::string_view kFields[] = {"apiVersion", "kind", "kubeConfigFile", "staticManifestsDir"};

}  // namespace

Credentials Credentials::FromSection(const std::optional<std::string>& section) {
  if (!section) return {};
  const meta::json::object fields = codec::ReadSection(*section, kVersions, "WebhookAdmissionConfiguration");
  codec::CheckFields(fields, kFields, "");
  const std::string path(meta::FindString(fields, "kubeConfigFile"));
  if (!path.empty() && !path.starts_with('/')) {
    throw std::invalid_argument(
        fmt::format("kubeConfigFile: Invalid value: {}: must be an absolute file path", meta::Quoted(path)));
  }
  RefuseStaticManifests(meta::FindString(fields, "staticManifestsDir"));
  return path.empty() ? Credentials() : FromKubeconfig(path);
}

Credentials Credentials::FromKubeconfig(const std::string& path) {
  const std::optional<SecretBytes> text = ReadSecretFile(path);
  if (!text) {
    const std::string_view failed = errno == ENOENT ? "stat" : "open";
    throw std::invalid_argument(fmt::format("{} {}: {}", failed, path, LowerCase(std::strerror(errno))));
  }
  meta::Result<service::KubeconfigUsers> users =
      service::ParseKubeconfigUsers(*text, std::filesystem::path(path).parent_path().string());
  if (!users) throw std::invalid_argument(fmt::format("{}: {}", path, users.error().Message()));
  Credentials made;
  made.users_ = std::move(users->users);
  made.current_user_ = std::move(users->current);
  return made;
}

const service::WebhookCredentials* Credentials::FindByName(const std::string& name) const {
  const auto exact = users_.find(name);
  if (exact != users_.end()) return &exact->second;
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const auto found = users_.find("*" + name.substr(dot));
    if (found != users_.end()) return &found->second;
  }
  return nullptr;
}

service::WebhookCredentials Credentials::For(const std::string& host_port) const {
  constexpr std::string_view kPort = ":443";
  if (const service::WebhookCredentials* found = FindByName(host_port)) return *found;
  if (host_port.ends_with(kPort)) {
    const std::string host = host_port.substr(0, host_port.size() - kPort.size());
    if (const service::WebhookCredentials* found = FindByName(host)) return *found;
  }
  for (const std::string& name : {std::string("*"), current_user_}) {
    const auto found = users_.find(name);
    if (found != users_.end() && !name.empty()) return found->second;
  }
  return {};
}

}  // namespace apimesh::admission::webhooks
