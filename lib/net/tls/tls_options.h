#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace apimesh::net {

/// The certificates of a listener, and its requirements for clients. All files are read again when they change on disk.
struct ServerTlsOptions {
  std::string cert_file, key_file;
  struct Sni {
    std::string cert_file, key_file;
    std::vector<std::string> names;  // empty: the names in the certificate
  };
  std::vector<Sni> sni;
  enum class ClientCertificate { kNone, kRequest, kRequire };
  ClientCertificate client_certificate = ClientCertificate::kRequest;
  std::vector<std::string>
      client_ca_files;  // their names are sent to clients; certificates are verified only with kRequire
  std::vector<std::string>
      client_uris;          // with kRequire: the certificate must have one of these as a subject alternative name
  std::string min_version;  // VersionTLS12 (default), VersionTLS13
  std::vector<std::string> cipher_suites;                  // Go names; empty: the library's defaults
  std::vector<std::string> curves;                         // numbers of TLS; empty: X25519, P-256, P-384
  std::vector<std::string> protocols{"http/1.1"};          // for ALPN, in order of preference
  std::uint64_t records_per_key = std::uint64_t{1} << 24;  // written records; then a KeyUpdate is sent (TLS 1.3) or the
                                                           // connection ends (TLS 1.2)
};

/// The CAs that a client trusts, and its own certificate. All files are read again when they change on disk.
struct ClientTlsOptions {
  std::string ca_pem;  // if this and ca_file are empty, the system's CAs are used
  std::string ca_file;
  std::string cert_file, key_file;
  std::string cert_pem, key_pem;  // the same as PEM text, instead of files
  std::string server_name;        // checked against the certificate; default: the host of the connection
  std::string server_uri;         // if not empty, the certificate must also have this URI as a subject alternative name
  bool insecure_skip_verify = false;
  std::string protocol = "http/1.1";  // for ALPN
};

}  // namespace apimesh::net
