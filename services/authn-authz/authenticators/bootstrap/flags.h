#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::authn_authz {

struct BootstrapTokenFlags {
  bool enabled;

  BootstrapTokenFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) { flags.Bind("enable-bootstrap-token-auth", enabled); }
};

}  // namespace apimesh::authn_authz
