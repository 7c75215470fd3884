#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::authn_authz {

struct RequestHeaderFlags {
  std::string client_ca_file;
  std::vector<std::string> allowed_names, username_headers, uid_headers, group_headers, extra_headers_prefix;

  RequestHeaderFlags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("requestheader-client-ca-file", client_ca_file);
    flags.Bind("requestheader-allowed-names", allowed_names);
    flags.Bind("requestheader-username-headers", username_headers);
    flags.Bind("requestheader-uid-headers", uid_headers);
    flags.Bind("requestheader-group-headers", group_headers);
    flags.Bind("requestheader-extra-headers-prefix", extra_headers_prefix);
  }
};

}  // namespace apimesh::authn_authz
