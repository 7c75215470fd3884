#pragma once

#include <cstdint>
#include <string>

namespace apimesh::launcher {

/// What Envoy needs to stand in front of the aggregator.
struct EnvoyOptions {
  std::string listen_address = "0.0.0.0";
  int port = 6443;
  std::string cert_file, key_file;  // what clients see
  std::string client_ca_file;       // names of accepted client certificates; the chain is verified by authn-authz
  std::string aggregator;  // "unix:/path", or "host:port" by the mesh's mTLS; a name is resolved to all replicas
  std::string aggregator_watches;  // "unix:/path" where it speaks HTTP/2; watches go there. "": they go the way of all others
  std::string mesh_ca_file, mesh_cert_file, mesh_key_file;  // for what is not reached by a socket of this machine
  std::string access_log;
  /// authn-authz as "unix:/path" or "host:port": Envoy asks it about every request and turns away whom it refuses,
  /// before the aggregator sees them. "": only the aggregator asks.
  std::string ext_authz;
  std::int64_t max_connections = 50'000;               // of clients; must leave file descriptors for other uses
  std::int64_t max_heap_bytes = std::int64_t{2} << 30;  // then it refuses requests rather than being killed
};

/// Envoy's bootstrap configuration, as JSON: TLS with optional client certificates passed on as XFCC, HTTP/2 and HTTP/1.1,
/// upgrades, no time-outs on streams, limits on connections, memory and slow requests, health checks, circuit breaking, an
/// access log without credentials.
std::string EnvoyConfig(const EnvoyOptions& options);

}  // namespace apimesh::launcher
