#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/admission/all_plugins.h"
#include "lib/flags/option_set.h"
#include "lib/service/flags.h"
#include "services/aggregator/audit/audit_options.h"
#include "services/aggregator/diagnostics/diagnostics_options.h"
#include "services/aggregator/metrics/metric_rules.h"

namespace apimesh::aggregator {

/// All options of the aggregator.
struct Options {
  service::CommonFlags common;
  service::EtcdFlags etcd;            // stores the APIServices
  admission::PluginChoice admission;  // for writes of APIServices
  std::string bind_address, external_hostname;
  int secure_port, advertise_port;  // advertise_port 0: secure_port
  bool permit_port_sharing;
  std::string tls_cert_file, tls_key_file, tls_min_version;
  std::vector<std::string> tls_cipher_suites;
  std::vector<std::string> tls_curves;                 // numbers of TLS
  std::vector<std::string> tls_sni;                    // "cert,key[:names]"
  std::string client_ca_file, request_header_ca_file;  // for the CA names in TLS handshakes; authn-authz verifies

  int mesh_port;  // 0: no listener for a front proxy
  std::string mesh_bind_address;
  std::string front_proxy_socket, front_proxy_h2_socket;  // "unix:/path"; "": no such listener
  std::vector<std::string>
      core_api;  // gRPC targets; the first is the head of the chain, the others serve separate groups
  std::string extensions_api, authn_authz;
  std::string shards_file;         // "": no shards
  bool enable_aggregator_routing;  // webhooks and servers of APIServices are called at the endpoints of their services
  std::string descriptions_file;   // texts for the OpenAPI documents
  std::string proxy_client_cert_file, proxy_client_key_file;  // for connections to servers of APIServices

  std::size_t max_body_bytes_in_flight;  // 0: no limit
  std::size_t max_connections;           // 0: derived from the limit of file descriptors

  flags::OptionSet filters;  // the options of each filter, declared in its folder; filters/chain.cc binds them
  AuditOptions audit;
  DiagnosticsOptions diagnostics;
  MetricsOptions metrics;
  std::string version;  // reported by /version; empty: the Kubernetes version of this build

  std::chrono::milliseconds watch_grace_period;
  bool reject_redirects;                 // of servers of APIServices
  std::int64_t tunnel_bytes_per_second;  // per upgraded connection and direction; 0: no limit
  bool disable_http2;                    // on the public port
  int http2_streams;                     // requests of one connection at the same time; 0: the default of lib/http

  Options() {
    flags::ApplyDefaults(*this);
    common.io_threads = 2;
  }
  void Bind(flags::Binder& flags);
};

/// The introduction of `aggregator --help`.
extern const char* const kAbout;

}  // namespace apimesh::aggregator
