#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/base/text/duration.h"
#include "lib/features/feature_gates.h"
#include "lib/flags/binder.h"
#include "lib/grpc/server.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::service {

/// The number of request threads if --io-threads is not given: half of the cores that this process may use, from 1 to
/// 8.
int DefaultIoThreads();

/// The flags that all services share.
struct CommonFlags {
  std::vector<std::string> listen;  // "unix:/path" or "host:port", for the other processes of the mesh
  std::string mesh_ca_file, mesh_cert_file, mesh_key_file;
  std::string health_address;  // "unix:/path" or "host:port": plain HTTP; empty: none
  std::string log_format, log_level;
  int io_threads = DefaultIoThreads();
  std::string
      tls_records;  // "own" or "openssl", for the complete process: towards clients and other processes of the mesh
  std::chrono::milliseconds shutdown_delay_duration, livez_grace_period;
  std::string egress_selector_config_file;
  std::vector<std::string> feature_gates;

  CommonFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags);
  features::FeatureGates Features() const { return features::FeatureGates(feature_gates); }
  /// The listeners of `process`, which admit the callers defined in lib/mesh/callers.h.
  std::vector<grpc::Listener> Listeners(std::string_view process) const;
  /// The endpoint of another process of the mesh at `address`: "unix:/path" or "host:port".
  mesh::Endpoint EndpointOf(std::string_view process, const std::string& address) const;
};

/// The flags of servers that store objects in etcd.
struct EtcdFlags {
  std::vector<std::string> servers;
  std::string ca_file, cert_file, key_file;
  std::string prefix;
  std::vector<std::string> servers_overrides;  // "group/resource#server;server"
  std::chrono::milliseconds compaction_interval;
  std::int64_t lease_reuse_seconds;
  std::string encryption_provider_config;
  bool encryption_provider_config_automatic_reload;

  EtcdFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags);
};

using apimesh::ParseDuration;  // for duration flags that are stored as text

}  // namespace apimesh::service
