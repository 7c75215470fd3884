#pragma once

#include <string>
#include <vector>

#include "lib/flags/binder.h"
#include "services/aggregator/filters/inputs.h"

namespace apimesh::aggregator {

/// The headers in which a front proxy with its own certificate names the user: those of --requestheader-*, and always
/// x-remote-*. They are sent only to authn-authz, which decides whether to trust them.
struct IdentityHeaders {
  std::vector<std::string> username, uid, group, extra_prefixes;

  IdentityHeaders() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags) {
    flags.Bind("requestheader-username-headers", username);
    flags.Bind("requestheader-uid-headers", uid);
    flags.Bind("requestheader-group-headers", group);
    flags.Bind("requestheader-extra-headers-prefix", extra_prefixes);
  }
};

/// Determines the user of the request with authn-authz, and answers 401 if the credentials are not valid.
std::shared_ptr<Filter> MakeAuthentication(const FilterInputs& inputs);

}  // namespace apimesh::aggregator
