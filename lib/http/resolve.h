#pragma once

#include <string>
#include <vector>

#include "lib/http/client.h"

namespace apimesh::http {

/// Resolves a host with the system's resolver; an address literal needs no lookup. A text that resembles an IPv4
/// address but is none ("0177.0.0.1", "127.1", "2130706433") has no addresses, although the C library would accept it.
Task<ClientResult<std::vector<IpAddress>>> Resolve(std::string host);

/// Resolves the host with the options' resolver, and fails unless the options allow all of its addresses.
Task<ClientResult<std::vector<IpAddress>>> AllowedAddresses(std::string host, const ClientOptions& options);

}  // namespace apimesh::http
