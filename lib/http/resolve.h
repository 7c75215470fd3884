#pragma once

#include <string>
#include <vector>

#include "lib/http/client.h"

namespace apimesh::http {

/// Asks the system's resolver. An address literal needs no question. A text that looks like an IPv4 address but is none
/// ("0177.0.0.1", "127.1", "2130706433") has no addresses, although the C library would read it as one.
Task<ClientResult<std::vector<IpAddress>>> Resolve(std::string host);

/// The addresses of the host by the options' resolver, provided that the options allow all of them.
Task<ClientResult<std::vector<IpAddress>>> AllowedAddresses(std::string host, const ClientOptions& options);

}  // namespace apimesh::http
