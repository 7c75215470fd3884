#include "lib/service/flags.h"

#include <algorithm>
#include <thread>

#include "lib/mesh/callers.h"
#include "lib/service/process_flags.h"
#include "lib/service/tracing/flags.h"

namespace apimesh::service {

int DefaultIoThreads() {
  // The other half is left to the other processes: a request uses two or three of them, one after the other.
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 1, 8);
}

void BindProcessFlags(flags::Binder& flags, CommonFlags& common) {
  flags.Bind("health-address", common.health_address);
  flags.Bind("log-format", common.log_format);
  flags.Bind("log-level", common.log_level);
}

void CommonFlags::Bind(flags::Binder& flags) {
  flags.Bind("listen", listen);
  flags.Bind("mesh-ca-file", mesh_ca_file);
  flags.Bind("mesh-cert-file", mesh_cert_file);
  flags.Bind("mesh-key-file", mesh_key_file);
  BindProcessFlags(flags, *this);
  flags.Bind("io-threads", io_threads);
  flags.Bind("tls-records", tls_records);
  flags.Bind("shutdown-delay-duration", shutdown_delay_duration);
  flags.Bind("feature-gates", feature_gates);
  TracingFlags::OfProcess().Bind(flags);
  flags.Bind("livez-grace-period", livez_grace_period);
  flags.Bind("egress-selector-config-file", egress_selector_config_file);
}

void EtcdFlags::Bind(flags::Binder& flags) {
  flags.Bind("etcd-servers", servers);
  flags.Bind("etcd-cafile", ca_file);
  flags.Bind("etcd-certfile", cert_file);
  flags.Bind("etcd-keyfile", key_file);
  flags.Bind("etcd-prefix", prefix);
  flags.Bind("etcd-servers-overrides", servers_overrides);
  flags.Bind("etcd-compaction-interval", compaction_interval);
  flags.Bind("lease-reuse-duration-seconds", lease_reuse_seconds);
  flags.Bind("encryption-provider-config", encryption_provider_config);
  flags.Bind("encryption-provider-config-automatic-reload", encryption_provider_config_automatic_reload);
}

std::vector<grpc::Listener> CommonFlags::Listeners(std::string_view process) const {
  std::vector<grpc::Listener> listeners;
  for (const std::string& address : listen) {
    listeners.push_back({address, mesh_ca_file, mesh_cert_file, mesh_key_file, mesh::CallersOf(process)});
  }
  return listeners;
}

mesh::Endpoint CommonFlags::EndpointOf(std::string_view process, const std::string& address) const {
  const bool complete = address.starts_with("unix:") || address.starts_with("dns:");
  return {complete ? address : "dns:///" + address, mesh_ca_file, mesh_cert_file, mesh_key_file,
          mesh::IdentityOf(process)};
}

}  // namespace apimesh::service
