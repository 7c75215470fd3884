#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"

struct ssl_ctx_st;

namespace apimesh::net {

using SslContextPtr = std::shared_ptr<ssl_ctx_st>;

/// An error with the text "context: message of OpenSSL".
std::runtime_error TlsFailure(const std::string& context);

/// A context with common settings: modes, groups, AES-GCM preferred, no renegotiation.
SslContextPtr NewSslContext(bool server);
/// The protocols encoded as an ALPN protocol list.
std::string AlpnList(const std::vector<std::string>& protocols);
/// Throws if the pair cannot be read or does not match.
void UseCertificate(ssl_ctx_st* context, const std::string& cert_file, const std::string& key_file);
/// The same for PEM texts.
void UseCertificatePem(ssl_ctx_st* context, const std::string& certificates, const std::string& key);
/// Applies "VersionTLS12" and Go's cipher suite names, as in kube-apiserver's flags. Throws on an unknown name.
void UseVersionAndCiphers(ssl_ctx_st* context, const std::string& min_version, const std::vector<std::string>& suites);
/// Restricts the key exchanges to those with these numbers of TLS; empty: the defaults. Throws std::runtime_error if
/// none of them is supported.
void UseCurves(ssl_ctx_st* context, const std::vector<std::string>& curves);

/// Detects changes of files. Changed() returns whether any file has changed since it last returned true, and checks at
/// most once per second. Not thread-safe.
class FileWatch {
 public:
  FileWatch(std::vector<std::string> files, const Clock& clock);
  bool Changed();

 private:
  std::string Fingerprint() const;
  std::vector<std::string> files_;
  const Clock& clock_;
  std::string fingerprint_;
  SteadyTime next_look_;
};

}  // namespace apimesh::net
