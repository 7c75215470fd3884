#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::authn_authz {

struct TokenWebhookFlags {
  std::string config_file, version;
  std::chrono::milliseconds cache_ttl;

  TokenWebhookFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("authentication-token-webhook-config-file", config_file);
    flags.Bind("authentication-token-webhook-version", version);
    flags.Bind("authentication-token-webhook-cache-ttl", cache_ttl);
  }
};

}  // namespace apimesh::authn_authz
