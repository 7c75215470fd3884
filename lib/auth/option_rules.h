#pragma once

#include <string>
#include <string_view>
#include <vector>

// The rules of kube-apiserver for combinations of security options. The launcher checks them together with all other
// options, and
// authn-authz checks them once more, because it can also be started without the launcher. All texts are those of
// kube-apiserver.
namespace apimesh::auth {

/// --authorization-mode, --authorization-policy-file and --authorization-webhook-config-file.
struct AuthorizationFlags {
  std::vector<std::string> modes;
  std::string policy_file, webhook_config_file;
};
std::vector<std::string> AuthorizationFlagErrors(const AuthorizationFlags& flags);

/// The flags --requestheader-*. The contents of the two CA files are PEM; they are compared only if both are given.
struct RequestHeaderFlags {
  std::vector<std::string> username_headers, uid_headers, group_headers, extra_headers_prefix, allowed_names;
  std::string client_ca_pem, requestheader_client_ca_pem;
};
/// A CA that signs ordinary client certificates must not be able to introduce front proxies: any user could then
/// name any other user
/// in a header. So the two bundles may overlap only if --requestheader-allowed-names says which certificates are
/// front proxies.
std::vector<std::string> RequestHeaderErrors(const RequestHeaderFlags& flags);
/// Settings that are allowed but keep aggregated API servers from working.
std::vector<std::string> RequestHeaderWarnings(const RequestHeaderFlags& flags);

/// Whether there is a certificate in a PEM text.
bool HasCertificate(std::string_view pem);
/// Whether the same certificate is in both PEM texts.
bool CertificatesOverlap(std::string_view a, std::string_view b);

}  // namespace apimesh::auth
