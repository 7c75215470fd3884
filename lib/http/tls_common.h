#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"

struct ssl_ctx_st;

namespace apimesh::http {

using SslContextPtr = std::shared_ptr<ssl_ctx_st>;

/// "context: what OpenSSL said".
std::runtime_error TlsFailure(const std::string& context);

/// A context with our common settings: modes, groups, AES-GCM first, no renegotiation.
SslContextPtr NewSslContext(bool server);
/// A protocol in the form that ALPN has for lists of them.
std::string AlpnList(const std::string& protocol);
/// Throws if the pair can't be read or does not match.
void UseCertificate(ssl_ctx_st* context, const std::string& cert_file, const std::string& key_file);
/// The same for texts.
void UseCertificatePem(ssl_ctx_st* context, const std::string& certificates, const std::string& key);
/// "VersionTLS12" and Go's cipher suite names, as kube-apiserver's flags have them. Throws on an unknown name.
void UseVersionAndCiphers(ssl_ctx_st* context, const std::string& min_version, const std::vector<std::string>& suites);

/// Says whether any of some files has changed since the last time it said so; looks at most once a second.
/// Not thread-safe.
class FileWatch {
 public:
  explicit FileWatch(std::vector<std::string> files);
  bool Changed();

 private:
  std::string Fingerprint() const;
  std::vector<std::string> files_;
  std::string fingerprint_;
  SteadyTime next_look_;
};

}  // namespace apimesh::http
