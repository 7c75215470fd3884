#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace apimesh::launcher {

/// The settings of Envoy in front of the aggregator.
struct EnvoyOptions {
  std::string listen_address = "0.0.0.0";
  int port = 6443;
  std::string secrets_folder;       // where Envoy finds the files of EnvoySecrets()
  std::string cert_file, key_file;  // the serving certificate
  std::string client_ca_file;       // issuers announced to clients; authn-authz verifies the chain
  std::string aggregator;  // "unix:/path", or "host:port" with the mesh's mTLS; a name is resolved to all replicas
  std::string aggregator_watches;  // the same for watches, which use HTTP/2; "": watches go to `aggregator`
  std::string mesh_ca_file, mesh_cert_file, mesh_key_file;  // for connections to "host:port"
  std::string access_log;
  /// authn-authz as "unix:/path" or "host:port". Envoy calls it for every request and rejects refused requests before
  /// they reach the aggregator. "": only the aggregator calls it.
  std::string ext_authz;
  std::int64_t max_connections = 50'000;                // of clients; must leave file descriptors for other uses
  std::int64_t max_heap_bytes = std::int64_t{2} << 30;  // Envoy refuses requests near this limit
};

/// Returns Envoy's bootstrap configuration as JSON: TLS with optional client certificates forwarded as XFCC, HTTP/2 and
/// HTTP/1.1, upgrades, no timeouts on streams, limits on connections, memory and slow requests, health checks, circuit
/// breaking, and an access log without credentials.
std::string EnvoyConfig(const EnvoyOptions& options);

/// Returns the certificates that the configuration refers to, as files of JSON by name. They are separate files, with
/// one certificate each, because Envoy reloads only such certificates: it watches the folders of the certificates and
/// reads them again when a file is replaced by renaming.
std::map<std::string, std::string> EnvoySecrets(const EnvoyOptions& options);

}  // namespace apimesh::launcher
