#pragma once

#include <string>

#include "services/launcher/flags/flag_parser.h"

namespace apimesh::launcher {

/// Returns the address at which the cluster reaches this server: --advertise-address, or AdvertisedAddress() of
/// --bind-address if it is unset or unspecified.
std::string AdvertiseAddress(const CommandLine& flags);

/// Returns the IPv4 address of the first interface that is up and not loopback; 127.0.0.1 if there is none.
std::string FirstAddress();
/// Returns the address at which other machines reach a server that listens on `bind`: `bind` if it is a global unicast
/// address, otherwise the first address of this machine. A loopback address cannot be an endpoint of the service
/// "kubernetes".
std::string AdvertisedAddress(const std::string& bind);

}  // namespace apimesh::launcher
