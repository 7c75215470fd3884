#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/duration.h"
#include "lib/rpc/delegate.h"
#include "lib/h2/server.h"

namespace CLI {
class App;
}

namespace apimesh::service {

/// Threads for requests, unless --io-threads says it: half of the cores that this process may use, from 1 to 8.
int DefaultIoThreads();

/// The flags that all services share.
struct CommonFlags {
  std::vector<std::string> listen;  // "unix:/path" or "host:port", for the other processes of the mesh
  std::string mesh_ca_file, mesh_cert_file, mesh_key_file;
  std::string health_address;  // "unix:/path" or "host:port": plain HTTP; empty: none
  std::string log_format = "text";
  std::string log_level = "info";
  int io_threads = DefaultIoThreads();
  std::string shutdown_delay_duration = "0s";
  std::string request_timeout = "60s";

  /// Adds them to the command line, and --config FILE, a YAML file of flag names and values.
  void AddTo(CLI::App& app);
  /// The listeners of `process`, which admit the callers that lib/rpc/callers.h names.
  std::vector<h2::Listener> Listeners(std::string_view process) const;
  /// Where another process of the mesh is: "unix:/path" or "host:port".
  rpc::Endpoint EndpointOf(std::string_view process, const std::string& address) const;
};

/// The flags of servers that keep objects in etcd.
struct EtcdFlags {
  std::vector<std::string> servers;
  std::string ca_file, cert_file, key_file;
  std::string prefix = "/registry";
  std::vector<std::string> servers_overrides;  // "group/resource#server;server"
  std::string compaction_interval = "5m0s";
  std::int64_t lease_reuse_seconds = 60;
  std::string encryption_provider_config;
  bool encryption_provider_config_automatic_reload = false;

  void AddTo(CLI::App& app);
};

/// Parses the command line. A value: the process should end with this exit code (0 after --help, 1 after a mistake,
/// which has been printed).
std::optional<int> Parse(CLI::App& app, int argc, char** argv);

using apimesh::ParseDuration;  // flags that are durations are kept as the text they came as

}  // namespace apimesh::service
