#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/wipe.h"

namespace apimesh::launcher {

/// A key and its certificate, as PEM text. The header does not depend on OpenSSL.
struct CertifiedKey {
  std::string certificate_pem;
  std::string key_pem;

  ~CertifiedKey() { Wipe(key_pem); }
};

struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  std::string uri;
  bool server_auth = false;
  bool client_auth = false;
  std::chrono::hours lifetime{24 * 365};
};

/// These functions create ECDSA P-256 keys, in about a millisecond, while RSA takes a tenth of a second. They throw
/// std::runtime_error on failure.
CertifiedKey NewAuthority(const std::string& common_name, std::chrono::hours lifetime);
CertifiedKey NewCertificate(const CertificateRequest& request, const CertifiedKey& authority);
/// Creates a certificate for a server for which none was configured.
CertifiedKey NewSelfSigned(const CertificateRequest& request);
/// A private key and its public key, for service-account tokens.
struct KeyPair {
  std::string private_pem;
  std::string public_pem;

  ~KeyPair() { Wipe(private_pem); }
};
KeyPair NewKeyPair();

/// Returns the error of a certificate and its key, with the text of Go's crypto/tls; empty if they match.
std::string CertificateAndKeyError(const std::string& certificate_pem, std::string_view key_pem);

/// Returns the remaining fraction of a certificate's lifetime: 1 when new, 0 or less when expired or unreadable.
double RemainingLife(const std::string& certificate_pem);

/// Returns for how many days a certificate is still valid: 0 or less when expired or unreadable.
double RemainingDays(const std::string& certificate_pem);

}  // namespace apimesh::launcher
