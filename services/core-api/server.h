#pragma once

#include "lib/externaljwt/flags.h"
#include "lib/service/sharding/flags.h"
#include "services/core-api/flags.h"

namespace apimesh::core_api {

/// The complete command line. Kinds and plugins see only `api`.
struct ServerFlags {
  Flags api;
  externaljwt::SignerFlags token_signer;
  service::ShardFlags sharding;
  std::string external_hostname;
  int advertise_port;  // 0: api.secure_port

  ServerFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    api.Bind(flags);
    token_signer.Bind(flags);
    sharding.Bind(flags);
    flags.Bind("external-hostname", external_hostname);
    flags.Bind("advertise-port", advertise_port);
  }
};

/// Serves until the process is asked to stop, and returns its exit code. Throws std::runtime_error if it cannot start.
int Run(const ServerFlags& server_flags, const Clock& clock);

}  // namespace apimesh::core_api
