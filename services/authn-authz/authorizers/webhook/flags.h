#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::authn_authz {

struct AuthorizationWebhookFlags {
  std::string config_file, version;
  std::chrono::milliseconds authorized_ttl, unauthorized_ttl;
  bool any_given = false;

  AuthorizationWebhookFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("authorization-webhook-config-file", config_file);
    flags.Bind("authorization-webhook-version", version);
    flags.Bind("authorization-webhook-cache-authorized-ttl", authorized_ttl);
    flags.Bind("authorization-webhook-cache-unauthorized-ttl", unauthorized_ttl);
    flags.BindGiven("authorization-webhook-", any_given);
  }
};

}  // namespace apimesh::authn_authz
