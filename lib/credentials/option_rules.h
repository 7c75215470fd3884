#pragma once

#include <string>
#include <string_view>
#include <vector>

// The rules of kube-apiserver for combinations of security options. The launcher checks them together with all other
// options. authn-authz checks them again, because it can be started without the launcher. All messages are those of
// kube-apiserver.
namespace apimesh::credentials {

/// The flags --authorization-mode, --authorization-policy-file and --authorization-webhook-config-file.
struct AuthorizationFlags {
  std::vector<std::string> modes;
  std::string policy_file, webhook_config_file;
};
std::vector<std::string> AuthorizationFlagErrors(const AuthorizationFlags& flags);

/// The flags --requestheader-*. The contents of the two CA files are PEM. They are compared only if both are set.
struct RequestHeaderFlags {
  std::vector<std::string> username_headers, uid_headers, group_headers, extra_headers_prefix, allowed_names;
  std::string client_ca_pem, requestheader_client_ca_pem;
};
/// Returns the errors of the flags. A CA that signs ordinary client certificates must not be able to authenticate front
/// proxies, because any user could then impersonate any other user with a header. Therefore, the two CA bundles may
/// overlap only if --requestheader-allowed-names restricts the certificates of front proxies.
std::vector<std::string> RequestHeaderErrors(const RequestHeaderFlags& flags);
/// Returns warnings about settings that are allowed but prevent aggregated API servers from working, and, which
/// kube-apiserver does not, about CA bundles that overlap.
std::vector<std::string> RequestHeaderWarnings(const RequestHeaderFlags& flags);

/// Returns whether a PEM text contains a certificate.
bool HasCertificate(std::string_view pem);
/// Returns whether both PEM texts contain the same certificate.
bool CertificatesOverlap(std::string_view a, std::string_view b);

}  // namespace apimesh::credentials
