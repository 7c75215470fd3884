#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::authn_authz {

struct TokenFileFlags {
  std::string file;

  TokenFileFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) { flags.Bind("token-auth-file", file); }
};

}  // namespace apimesh::authn_authz
