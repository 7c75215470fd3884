#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::authn_authz {

struct AbacFlags {
  std::string policy_file;

  AbacFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) { flags.Bind("authorization-policy-file", policy_file); }
};

}  // namespace apimesh::authn_authz
