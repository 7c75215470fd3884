#pragma once

#include "lib/externaljwt/flags.h"
#include "lib/service/sharding/flags.h"
#include "lib/service/stores/etcd_health.h"
#include "services/core-api/flags.h"

namespace apimesh::core_api {

/// The complete command line. Kinds and plugins see only `api`.
struct ServerFlags {
  Flags api;
  externaljwt::SignerFlags token_signer;
  service::ShardFlags sharding;
  service::EtcdCheckFlags etcd_checks;
  std::string external_hostname;
  int advertise_port;  // 0: api.secure_port
  std::chrono::milliseconds storage_initialization_timeout;

  ServerFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    api.Bind(flags);
    token_signer.Bind(flags);
    sharding.Bind(flags);
    etcd_checks.Bind(flags);
    flags.Bind("external-hostname", external_hostname);
    flags.Bind("advertise-port", advertise_port);
    flags.Bind("storage-initialization-timeout", storage_initialization_timeout);
  }
};

/// Serves until the process is asked to stop, and returns its exit code. Throws std::runtime_error if it cannot start.
int Run(const ServerFlags& server_flags, const Clock& clock);

}  // namespace apimesh::core_api
