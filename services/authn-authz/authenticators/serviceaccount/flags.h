#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/externaljwt/flags.h"
#include "lib/flags/binder.h"

namespace apimesh::authn_authz {

struct ServiceAccountFlags {
  std::vector<std::string> key_files;
  std::string signing_key_file;
  externaljwt::SignerFlags signer;
  bool lookup;

  ServiceAccountFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("service-account-key-file", key_files);
    flags.Bind("service-account-signing-key-file", signing_key_file);
    signer.Bind(flags);
    flags.Bind("service-account-lookup", lookup);
  }
  /// Whether there are keys that verify tokens. Otherwise tokens of service accounts are not accepted.
  bool Verifies() const { return !VerifyingKeyFiles().empty() || !signer.endpoint.empty(); }
  /// Returns the files with the keys that verify tokens.
  std::vector<std::string> VerifyingKeyFiles() const {
    return key_files.empty() && !signing_key_file.empty() ? std::vector<std::string>{signing_key_file} : key_files;
  }
};

}  // namespace apimesh::authn_authz
