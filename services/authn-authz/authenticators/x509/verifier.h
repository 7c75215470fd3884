#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/meta/api_error.h"

namespace apimesh::authn_authz {

/// What a certificate says of its owner, read after its chain was verified.
struct CertificateIdentity {
  std::string common_name;                  // "" if the subject has none
  std::vector<std::string> organizations;
  std::vector<std::string> uids;            // of the attribute 1.3.6.1.4.1.57683.2
  std::string fingerprint;                  // hex of SHA-256
  WallTime not_after;
};

/// Verifies client certificates against a bundle of CAs: signatures, validity and the clientAuth usage of every
/// certificate on the way, as crypto/x509 does with ExtKeyUsageClientAuth. A CA file is read again when it changes; one
/// that has become unreadable or empty leaves the last good bundle in place. Thread-safe.
class CertificateVerifier {
 public:
  virtual ~CertificateVerifier() = default;
  /// `chain` is DER, leaf first. The error says what is wrong and names the certificate by number and key ids.
  virtual meta::Result<CertificateIdentity> Verify(const std::vector<std::string>& chain) = 0;

  static meta::Result<std::unique_ptr<CertificateVerifier>> FromPem(std::string pem, const Clock& clock);
  static meta::Result<std::unique_ptr<CertificateVerifier>> FromFile(std::string path, const Clock& clock);
};

}  // namespace apimesh::authn_authz
