// Checks that the files that flags name exist. The services that read a file check its contents.
#include <cctype>

#include <fmt/format.h>

#include "lib/base/secrets/secret_file.h"
#include "lib/credentials/key.h"
#include "lib/credentials/option_rules.h"
#include "lib/meta/errors/field_error.h"
#include "services/launcher/options/rules.h"
#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher {
namespace {

struct File {
  std::string_view flag;
  std::string_view message;      // {0}: the path, {1}: the error, {2}: its reason
  std::string_view ca_bundle{};  // the name of a bundle of CAs, which must not be empty
  std::string_view only_with{};  // another flag, without which the file is not read
};

// In the order in which kube-apiserver reads them.
constexpr File kFiles[] = {
    {"egress-selector-config-file",
     "failed to read egress selector config: unable to read egress selector "
     "configuration from \"{0}\" [{1}]"},
    {"tracing-config-file", "failed to read tracing config: unable to read tracing configuration from \"{0}\": {1}"},
    {"etcd-cafile", "error creating storage factory: {1}"},
    {"etcd-certfile", "error creating storage factory: {1}"},
    {"etcd-keyfile", "error creating storage factory: {1}"},
    {"encryption-provider-config",
     "error while parsing file: error while loading file: error reading encryption "
     "provider configuration file \"{0}\": {1}"},
    {"client-ca-file", "{1}", "client-ca-bundle"},
    {"authentication-config", "failed to load authentication configuration from file \"{0}\": {1}"},
    {"oidc-ca-file", "{1}"},
    {"requestheader-client-ca-file", "{1}", "request-header"},
    {"token-auth-file", "{1}"},
    {"authentication-token-webhook-config-file", "stat {0}: {2}"},
    {"authorization-policy-file", "invalid authorization config: {1}"},
    {"authorization-webhook-config-file", "invalid authorization config: stat {0}: {2}"},
    {"audit-policy-file", "loading audit policy file: failed to read file path \"{0}\": {1}"},
    {"audit-webhook-config-file", "initializing audit webhook: stat {0}: {2}", "", "audit-policy-file"},
    {"admission-control-config-file",
     "failed to apply admission: failed to read plugin config: unable to read "
     "admission control configuration from \"{0}\" [{1}]"},
    {"kubelet-certificate-authority", "problem initializing API group \"\": {1}"},
    {"kubelet-client-certificate", "problem initializing API group \"\": {1}"},
    {"kubelet-client-key", "problem initializing API group \"\": {1}"},
};

bool IsHex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

void ApplyFiles(const CommandLine& flags, Findings& findings) {
  for (const File& file : kFiles) {
    const std::string path = flags.Value(file.flag);
    if (path.empty() || (!file.only_with.empty() && flags.Value(file.only_with).empty())) continue;
    if (const std::string error = OpenError(path); !error.empty()) {
      findings.errors.push_back(
          fmt::format(fmt::runtime(file.message), path, error, error.substr(error.rfind(": ") + 2)));
      return;
    }
    if (file.ca_bundle.empty()) continue;
    const std::string pem = ReadFile(path), name = fmt::format("\"{}::{}\"", file.ca_bundle, path);
    if (pem.empty()) {
      findings.errors.push_back(fmt::format("missing content for CA bundle {}", name));
      return;
    }
    if (!credentials::HasCertificate(pem)) {
      findings.errors.push_back(fmt::format(
          "error loading CA bundle for {}: data does not contain any valid RSA or ECDSA certificates", name));
      return;
    }
  }
  for (const std::string& path : flags.Values("service-account-key-file")) {
    std::string error = OpenError(path);
    const std::optional<SecretBytes> key = ReadSecretFile(path);  // it may be a private key
    if (error.empty() && (!key || !credentials::PublicKey::FromPem(*key))) {
      error = fmt::format(
          "error reading public key file {}: data does not contain any valid RSA or ECDSA public "
          "keys",
          path);
    }
    if (error.empty()) continue;
    findings.errors.push_back(std::move(error));
    return;
  }
}

std::string UrlError(const std::string& url) {
  const auto error = [&](const std::string& why) { return fmt::format("parse {}: {}", meta::Quoted(url), why); };
  for (const char c : url) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) return error("net/url: invalid control character in URL");
  }
  if (url.starts_with(':')) return error("missing protocol scheme");
  const std::size_t scheme = url.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
  const bool has_scheme = scheme != url.npos && url[scheme] == ':' && std::isalpha(static_cast<unsigned char>(url[0]));
  if (!has_scheme && url.find(':') < url.find('/')) return error("first path segment in URL cannot contain colon");
  for (std::size_t i = url.find('%'); i < url.find_first_of("?"); i = url.find('%', i + 1)) {
    if (i + 2 < url.size() && IsHex(url[i + 1]) && IsHex(url[i + 2])) continue;
    return error(fmt::format("invalid URL escape {}", meta::Quoted(url.substr(i, 3))));
  }
  if (!has_scheme || url.compare(scheme, 3, "://") != 0) return "";
  std::string host = url.substr(scheme + 3, url.find_first_of("/?#", scheme + 3) - (scheme + 3));
  host = host.substr(host.rfind('@') == host.npos ? 0 : host.rfind('@') + 1);
  if (const std::size_t bad = host.find_first_of(" <>\"{}|\\^`"); bad != host.npos) {
    return error(fmt::format("invalid character {} in host name", meta::Quoted(host.substr(bad, 1))));
  }
  const std::size_t colon = host.rfind(':');
  if (colon != host.npos && host.find(']', colon) == host.npos &&
      host.find_first_not_of("0123456789", colon + 1) != host.npos) {
    return error(fmt::format("invalid port {} after host", meta::Quoted(host.substr(colon))));
  }
  return "";
}

}  // namespace apimesh::launcher
