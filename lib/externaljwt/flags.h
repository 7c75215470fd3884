#pragma once

#include <string>

#include "lib/flags/binder.h"

namespace apimesh::externaljwt {

/// For services that use the signer's keys.
struct SignerFlags {
  std::string endpoint;  // empty: the keys of tokens are in files

  SignerFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) { flags.Bind("service-account-signing-endpoint", endpoint); }
};

}  // namespace apimesh::externaljwt
