#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/base/wipe.h"

namespace apimesh::launcher {

/// A key and its certificate, as PEM text. OpenSSL stays in the .cc.
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

/// ECDSA P-256: made in a millisecond, where RSA takes a tenth of a second. Throw std::runtime_error on failure.
CertifiedKey NewAuthority(const std::string& common_name, std::chrono::hours lifetime);
CertifiedKey NewCertificate(const CertificateRequest& request, const CertifiedKey& authority);
/// For a server that nobody gave a certificate.
CertifiedKey NewSelfSigned(const CertificateRequest& request);
/// A private key and its public half, for service-account tokens.
struct KeyPair {
  std::string private_pem;
  std::string public_pem;

  ~KeyPair() { Wipe(private_pem); }
};
KeyPair NewKeyPair();

/// What is wrong with a certificate and its key, in the words of Go's crypto/tls; empty if they fit each other.
std::string CertificateAndKeyError(const std::string& certificate_pem, const std::string& key_pem);

/// What is left of a certificate's life, as a share of the whole: 1 when new, 0 or less when expired or unreadable.
double RemainingLife(const std::string& certificate_pem);

}  // namespace apimesh::launcher
