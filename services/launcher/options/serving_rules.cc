// Rules for the HTTPS listener and its certificates.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "lib/base/secrets/secret_file.h"
#include "lib/base/text/text.h"
#include "services/launcher/flags/flag_value.h"
#include "services/launcher/options/rules.h"
#include "services/launcher/pki/certificate.h"
#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher {
namespace {

/// Returns the error of a certificate and its key; empty if they can be served.
std::string PairError(const std::string& certificate_file, const std::string& key_file, const char* purpose) {
  if (certificate_file.empty() || key_file.empty()) return "missing filename for serving cert";
  for (const std::string& file : {certificate_file, key_file}) {
    if (std::string error = OpenError(file); !error.empty()) return error;
  }
  const std::string certificate = ReadFile(certificate_file);
  const std::optional<SecretBytes> key = ReadSecretFile(key_file);
  if (certificate.empty() || !key || key->size() == 0) {
    return fmt::format("missing content for serving cert \"{}::{}::{}\"", purpose, certificate_file, key_file);
  }
  return CertificateAndKeyError(certificate, *key);
}

/// The numbers of the key exchanges that Go supports: P-256, P-384, P-521, X25519 and the hybrids with ML-KEM.
constexpr std::string_view kCurves[] = {"23", "24", "25", "29", "4587", "4588", "4589"};

void CheckCurves(const CommandLine& flags, Findings& findings) {
  for (const std::string& curve : flags.Values("tls-curve-preferences")) {
    if (std::find(std::begin(kCurves), std::end(kCurves), curve) != std::end(kCurves)) continue;
    findings.errors.push_back(fmt::format("curve preference {} is not supported by the current Go version", curve));
    return;
  }
}

/// HTTP/2 over TLS 1.2 requires one of two cipher suites.
void CheckHttp2Ciphers(const CommandLine& flags, Findings& findings) {
  const std::vector<std::string> suites = flags.Values("tls-cipher-suites");
  const auto has = [&](const char* suite) { return std::find(suites.begin(), suites.end(), suite) != suites.end(); };
  const bool known = std::all_of(suites.begin(), suites.end(), [](const std::string& s) {
    return s.starts_with("TLS_") && s.find("_WITH_") != s.npos;
  });
  if (suites.empty() || !known || flags.IsTrue("disable-http2-serving") ||
      flags.Value("tls-min-version") == "VersionTLS13")
    return;
  if (has("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256") || has("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")) return;
  findings.errors.push_back(
      "error configuring http2: http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher "
      "(need at least one of TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256)");
}

}  // namespace

std::string OpenError(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return fmt::format("read {}: is a directory", path);
  if (::access(path.c_str(), R_OK) == 0) return "";
  std::string reason = std::strerror(errno);
  reason[0] = static_cast<char>(std::tolower(reason[0]));
  return fmt::format("open {}: {}", path, reason);
}

void CompleteServingCertificate(const CommandLine& flags, Findings& findings) {
  const std::string folder = flags.Value("cert-dir");
  if (!flags.Value("tls-cert-file").empty() || !flags.Value("tls-private-key-file").empty() || folder.empty()) return;
  const auto exists = [&](const char* name) { return ::access((folder + "/" + name).c_str(), R_OK) == 0; };
  if (exists("apiserver.crt") != exists("apiserver.key")) {
    findings.errors.push_back(fmt::format(
        "error creating self-signed certificates: error reading {}, certificate and key must be supplied as a pair",
        folder + (exists("apiserver.crt") ? "/apiserver.key" : "/apiserver.crt")));
  }
}

void ValidateServing(const CommandLine& flags, Findings& findings) {
  if (const long long port = std::atoll(flags.Value("secure-port").c_str()); port < 1 || port > 65535) {
    findings.errors.push_back(
        fmt::format("--secure-port {} must be between 1 and 65535, inclusive. It cannot be "
                    "turned off with 0",
                    port));
  }
  if (const std::string records = flags.Value("tls-records"); records != "own" && records != "openssl") {
    findings.errors.push_back(fmt::format("--tls-records invalid, allowed values: own, openssl; got \"{}\"", records));
  }
  if (const std::string exporter = flags.Value("tracing-exporter"); exporter != "grpc" && exporter != "http") {
    findings.errors.push_back(
        fmt::format("--tracing-exporter invalid, allowed values: grpc, http; got \"{}\"", exporter));
  }
}

void ApplyHttp2(const CommandLine& flags, Findings& findings) { CheckHttp2Ciphers(flags, findings); }

void ApplyProxyClient(const CommandLine& flags, Findings& findings) {
  const std::string certificate = flags.Value("proxy-client-cert-file"), key = flags.Value("proxy-client-key-file");
  if (certificate.empty() || key.empty()) return;
  std::string error = PairError(certificate, key, "aggregator-proxy-cert");
  if (!error.empty()) findings.errors.push_back(std::move(error));
}

void ApplyServing(const CommandLine& flags, Findings& findings) {
  const std::string certificate = flags.Value("tls-cert-file"), key = flags.Value("tls-private-key-file");
  if (!certificate.empty() || !key.empty()) {
    if (std::string error = PairError(certificate, key, "serving-cert"); !error.empty()) {
      findings.errors.push_back(std::move(error));
      return;
    }
  }
  CheckCurves(flags, findings);
  if (!findings.errors.empty()) return;
  for (const std::string& pair : flags.Values("tls-sni-cert-key")) {
    const std::vector<std::string> files = SplitList(pair.substr(0, pair.find(':')));
    if (const std::string error = PairError(files[0], files[1], "sni-serving-cert"); !error.empty()) {
      findings.errors.push_back(fmt::format("failed to load SNI cert and key: {}", error));
      return;
    }
  }
}

}  // namespace apimesh::launcher
