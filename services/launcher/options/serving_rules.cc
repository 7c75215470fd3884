// The HTTPS listener and its certificates.
#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "services/launcher/flags/flag_value.h"
#include "services/launcher/options/rules.h"
#include "services/launcher/pki/certificate.h"
#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher {
namespace {

/// What is wrong with a certificate and its key; empty if they can be served.
std::string PairError(const std::string& certificate_file, const std::string& key_file, const char* purpose) {
  if (certificate_file.empty() || key_file.empty()) return "missing filename for serving cert";
  for (const std::string& file : {certificate_file, key_file}) {
    if (std::string error = OpenError(file); !error.empty()) return error;
  }
  const std::string certificate = ReadFile(certificate_file), key = ReadFile(key_file);
  if (certificate.empty() || key.empty()) {
    return fmt::format("missing content for serving cert \"{}::{}::{}\"", purpose, certificate_file, key_file);
  }
  return CertificateAndKeyError(certificate, key);
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
    findings.errors.push_back(fmt::format("--secure-port {} must be between 1 and 65535, inclusive. It cannot be "
        "turned off with 0", port));
  }
  if (const std::string records = flags.Value("tls-records"); records != "own" && records != "openssl") {
    findings.errors.push_back(
        fmt::format("--tls-records invalid, allowed values: own, openssl; got \"{}\"", records));
  }
}

void ApplyServing(const CommandLine& flags, Findings& findings) {
  const std::string certificate = flags.Value("tls-cert-file"), key = flags.Value("tls-private-key-file");
  if (!certificate.empty() || !key.empty()) {
    if (std::string error = PairError(certificate, key, "serving-cert"); !error.empty()) {
      findings.errors.push_back(std::move(error));
      return;
    }
  }
  for (const std::string& pair : flags.Values("tls-sni-cert-key")) {
    const std::vector<std::string> files = SplitAtCommas(pair.substr(0, pair.find(':')));
    if (const std::string error = PairError(files[0], files[1], "sni-serving-cert"); !error.empty()) {
      findings.errors.push_back(fmt::format("failed to load SNI cert and key: {}", error));
      return;
    }
  }
}

}  // namespace apimesh::launcher
