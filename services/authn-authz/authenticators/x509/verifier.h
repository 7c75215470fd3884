#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/meta/errors/api_error.h"

struct x509_store_st;  // X509_STORE of OpenSSL

namespace apimesh::authn_authz {

class WatchedFile;

/// The identity in a client certificate, read after its chain is verified.
struct CertificateIdentity {
  std::string common_name;  // "" if the subject has none
  std::vector<std::string> organizations;
  std::vector<std::string> uids;  // values of the attribute 1.3.6.1.4.1.57683.2
  std::string fingerprint;        // SHA-256, in hexadecimal
  WallTime not_after;
};

/// Verifies client certificates against a CA bundle: signatures, validity and the clientAuth usage of every certificate
/// in the chain, as crypto/x509 does with ExtKeyUsageClientAuth. A CA file is reloaded when it changes; if it becomes
/// unreadable or empty, the last valid bundle stays in use. Thread-safe.
class CertificateVerifier final {
 public:
  ~CertificateVerifier();
  /// `chain` is DER, leaf first. The error text gives the reason and identifies the certificate by serial number and
  /// key ids.
  meta::Result<CertificateIdentity> Verify(const std::vector<std::string>& chain);

  static meta::Result<std::unique_ptr<CertificateVerifier>> FromPem(std::string pem, const Clock& clock);
  static meta::Result<std::unique_ptr<CertificateVerifier>> FromFile(std::string path, const Clock& clock);

 private:
  CertificateVerifier(std::shared_ptr<x509_store_st> store, std::unique_ptr<WatchedFile> file, const Clock& clock);
  std::shared_ptr<x509_store_st> CurrentStore();

  const Clock& clock_;
  const std::unique_ptr<WatchedFile> file_;  // nullptr: the bundle does not change
  std::mutex mutex_;
  std::shared_ptr<x509_store_st> store_;  // guarded by mutex_
};

}  // namespace apimesh::authn_authz
